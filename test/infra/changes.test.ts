import { EventEmitter } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChanges, type ListenClient } from '../../src/infra/changes.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createSignals } from '../support/signals.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

function listen(connect: () => Promise<ListenClient>) {
  const clock = createFakeClock()
  const signals = createSignals()
  const heard: string[] = []
  const write = (_: object, text: string) => {
    heard.push(text.includes('not listening') ? 'lost' : 'listening')
    signals.notify()
  }
  const changes = createChanges({ clock, connect, log: { info: write, warn: write } })
  changes.subscribe({
    changed(table, accountId) {
      heard.push(`${table} ${accountId}`)
      signals.notify()
    },
    reset: () => heard.push('reset'),
  })
  return { clock, signals, heard, changes }
}

const tell = (payload: string) =>
  database.db.query({ name: 'tell', text: `select pg_notify('posthorn_changes', $1)`, values: [payload] })

describe('changes', () => {
  test('are heard in their order, with the account or without; what is malformed is passed over', async () => {
    const { changes, heard, signals } = listen(database.db.dedicated)
    await changes.start()
    await tell('accounts:00000000-0000-0000-0000-000000000000')
    await tell('nonsense')
    await tell('prices:')
    await signals.until(() => heard.includes('prices null'))
    expect(heard).toEqual(['reset', 'listening', 'accounts acc_00000000000000000000000000', 'prices null'])
    await changes.stop()
    expect(changes.fresh()).toBe(false)
  })

  test('come from the triggers of every table that is cached', async () => {
    const { changes, heard, signals } = listen(database.db.dedicated)
    await changes.start()
    await database.db.query({
      name: 'touch_prices',
      text: `insert into prices values ('int_sms', '*', null, '*', 1, 'USD')`,
    })
    await signals.until(() => heard.includes('prices null'))
    await changes.stop()
  })

  test('stay fresh as long as the connection answers its heartbeat', async () => {
    const answered = createSignals()
    let answers = 0
    const { changes, clock } = listen(async () => {
      const client = await database.db.dedicated()
      const query = client.query.bind(client) as (text: string) => Promise<unknown>
      const told = async (text: string) => {
        await query(text)
        answers++
        answered.notify()
      }
      return Object.assign(client, { query: told as typeof client.query })
    })
    await changes.start()
    for (let beat = 1; beat <= 5; beat++) {
      await clock.advance(300)
      await answered.until(() => answers === 1 + beat)
      expect(changes.fresh()).toBe(true)
    }
    await changes.stop()
  })

  test('are tried again until the database is there', async () => {
    let refusals = 2
    const { changes, clock, heard, signals } = listen(async () => {
      if (refusals-- > 0) throw new Error('connection refused')
      return database.db.dedicated()
    })
    const started = changes.start()
    await signals.until(() => heard.length === 1)
    expect(changes.fresh()).toBe(false)
    await clock.advance(200)
    await signals.until(() => heard.length === 2)
    await clock.advance(200)
    await started
    expect(heard).toEqual(['lost', 'lost', 'reset', 'listening'])
    expect(changes.fresh()).toBe(true)
    await changes.stop()
  })

  test('given up while a connection is being made leave none behind', async () => {
    const { promise, resolve } = Promise.withResolvers<ListenClient>()
    const { changes } = listen(() => promise)
    void changes.start()
    await changes.stop()
    const ended = Promise.withResolvers<void>()
    const late = Object.assign(new EventEmitter(), {
      query: async () => expect.unreachable('nothing may be asked after the stop'),
      end: async () => ended.resolve(),
    })
    resolve(late)
    await ended.promise
    expect(changes.fresh()).toBe(false)
  })
})

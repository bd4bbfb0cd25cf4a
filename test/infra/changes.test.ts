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
  const received: string[] = []
  const write = (_: object, text: string) => {
    received.push(text.includes('not listening') ? 'lost' : 'listening')
    signals.notify()
  }
  const changes = createChanges({ clock, connect, log: { info: write, warn: write } })
  changes.subscribe({
    changed(table, accountId) {
      received.push(`${table} ${accountId}`)
      signals.notify()
    },
    reset: () => received.push('reset'),
  })
  return { clock, signals, received, changes }
}

const sendNotification = (payload: string) =>
  database.db.query({
    name: 'tell',
    text: `select pg_notify('posthorn_changes', $1)`,
    values: [payload],
  })

describe('changes', () => {
  test('are received in order, with or without an account id, and malformed payloads are skipped', async () => {
    const { changes, received, signals } = listen(database.db.dedicated)
    await changes.start()
    await sendNotification('accounts:00000000-0000-0000-0000-000000000000')
    await sendNotification('nonsense')
    await sendNotification('prices:')
    await signals.until(() => received.includes('prices null'))
    expect(received).toEqual(['reset', 'listening', 'accounts acc_00000000000000000000000000', 'prices null'])
    await changes.stop()
    expect(changes.fresh()).toBe(false)
  })

  test('are sent by the trigger of the prices table', async () => {
    const { changes, received, signals } = listen(database.db.dedicated)
    await changes.start()
    await database.db.query({
      name: 'touch_prices',
      text: `insert into prices values ('int_sms', '*', null, '*', 1, 'USD')`,
    })
    await signals.until(() => received.includes('prices null'))
    await changes.stop()
  })

  test('stay fresh while the connection answers its heartbeat', async () => {
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

  test('reconnect until the database accepts the connection', async () => {
    let refusals = 2
    const { changes, clock, received, signals } = listen(async () => {
      if (refusals-- > 0) throw new Error('connection refused')
      return database.db.dedicated()
    })
    const started = changes.start()
    await signals.until(() => received.length === 1)
    expect(changes.fresh()).toBe(false)
    await clock.advance(200)
    await signals.until(() => received.length === 2)
    await clock.advance(200)
    await started
    expect(received).toEqual(['lost', 'lost', 'reset', 'listening'])
    expect(changes.fresh()).toBe(true)
    await changes.stop()
  })

  test('close a connection that is established after stop()', async () => {
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

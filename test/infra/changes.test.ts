import { EventEmitter } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChanges, type ListenClient } from '../../src/infra/changes.ts'
import { fromUuid } from '../../src/lib/ids.ts'
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

const ACCOUNT = '01234567-89ab-7def-8123-456789abcdef'

/**
 * The tables whose rows nodes keep in memory: the events that change what they keep, and the column of the account's
 * id, or of the person's. Sessions of the console and users are not kept before they are used, so new ones change
 * nothing.
 */
const CACHED_TABLES = {
  accounts: { events: 'DELETE INSERT UPDATE', column: 'id' },
  api_keys: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  bots: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  bulk_jobs: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  connections: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  console_sessions: { events: 'DELETE', column: 'user_id' },
  fraud_settings: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  memberships: { events: 'DELETE INSERT UPDATE', column: 'user_id' },
  official_defaults: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  pools: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  // Its trigger fires once per statement, and names no account.
  prices: { events: 'DELETE INSERT UPDATE', column: 'channel' },
  sms_senders: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  template_defaults: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  templates: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
  users: { events: 'DELETE UPDATE', column: 'id' },
  web_sessions: { events: 'DELETE INSERT UPDATE', column: 'account_id' },
}

/** The columns whose updates fire a trigger, where it is not every column. */
const UPDATED_COLUMNS = {
  api_keys: 'expires_at hash mode permissions revoked_at role',
  bulk_jobs: 'pause_reason status',
  pools: 'channels included',
  templates: 'compiled connection_id provider_template_id spec status',
  users: 'email name operator totp_secret',
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

  test('are sent by triggers: with the account id of a row, and without one for prices', async () => {
    const { changes, received, signals } = listen(database.db.dedicated)
    await changes.start()
    await database.db.query({
      name: 'touch_defaults',
      text: `insert into official_defaults (account_id) values ($1)`,
      values: [ACCOUNT],
    })
    await database.db.query({
      name: 'touch_prices',
      text: `insert into prices values ('int_sms', '*', null, '*', 1, 'USD')`,
    })
    await signals.until(() => received.includes('prices null'))
    expect(received).toEqual([
      'reset',
      'listening',
      `official_defaults ${fromUuid('acc', ACCOUNT)}`,
      'prices null',
    ])
    await changes.stop()
  })

  test('have triggers on every cached table, for every event that matters', async () => {
    const { rows: triggers } = await database.db.query<{ table: string; events: string; column: string }>({
      name: 'list_triggers',
      text: `select event_object_table as table,
          string_agg(event_manipulation, ' ' order by event_manipulation) as events,
          substring(action_statement from $$tell_change\\('(\\w+)'\\)$$) as column
        from information_schema.triggers where action_statement like '%tell_change(%' group by 1, 3`,
      values: [],
    })
    expect(Object.fromEntries(triggers.map(({ table, ...more }) => [table, more]))).toEqual(CACHED_TABLES)
    expect(triggers).toHaveLength(Object.keys(CACHED_TABLES).length)
    const { rows: updates } = await database.db.query<{ table: string; columns: string }>({
      name: 'list_updates',
      text: `select event_object_table as table,
          string_agg(event_object_column, ' ' order by event_object_column::text collate "C") as columns
        from information_schema.triggered_update_columns
          join information_schema.triggers using (trigger_schema, trigger_name, event_object_table)
        where action_statement like '%tell_change(%' and event_manipulation = 'UPDATE' group by 1`,
      values: [],
    })
    expect(Object.fromEntries(updates.map(({ table, columns }) => [table, columns]))).toEqual(UPDATED_COLUMNS)
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

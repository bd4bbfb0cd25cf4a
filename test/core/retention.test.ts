import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ensureMonths } from '../../src/core/outbox/month-store.ts'
import { createRetention, type RetentionPeriods } from '../../src/core/outbox/retention.ts'
import { firstUuidAt } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const DAY_MS = 86_400_000
const NOVEMBER = Date.UTC(2030, 10, 15)
const TABLES = ['events', 'deliveries', 'inbound_messages', 'verifications'] as const
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.db.query({
    name: 't_wipe',
    text: 'truncate events, deliveries, inbound_messages, verifications',
  })
  await ensureMonths(database.db, NOVEMBER)
})

/** Inserts a row of this time into each table. */
async function put(atMs: number, status: 'pending' | 'delivered' = 'delivered'): Promise<void> {
  const id = firstUuidAt(atMs)
  for (const [name, text] of [
    ['t_event', `insert into events (account_id, id, type, at) values ($1, $1, 'message.sent', now())`],
    [
      't_delivery',
      `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, status, due_at)
         values ($1, $1, 'endpoint', $1, $1, 'message.sent', '${status}', now())`,
    ],
    [
      't_inbound',
      `insert into inbound_messages (account_id, id, connection_id, provider, provider_id, channel, sender, recipient)
         values ($1, $1, $1, 'twilio', 'SM1', 'local_sms', '+12025550142', '+12025550143')`,
    ],
    [
      't_verification',
      `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id, channel,
           started_at, expires_at, resend_at, code_hash, messages, started_with)
         values ($1, $1, true, 10, '+12025550142', '+12025550142', $1, 'local_sms', now(), now(), now(), '', array[$1]::uuid[], 1)`,
    ],
  ] as const) {
    await database.db.query({ name: `${name}_${status}`, text, values: [id] })
  }
}

/** The partition of each row of a table, in the order of their ids. */
async function places(table: string): Promise<string[]> {
  const { rows } = await database.db.query<{ place: string }>({
    name: `t_places_${table}`,
    text: `select tableoid::regclass::text as place from ${table} order by id`,
  })
  return rows.map(row => row.place)
}

const FOREVER: RetentionPeriods = { eventsMs: null, inboundMs: null, verificationsMs: null }
const retentionAt = (nowMs: number, keep: Partial<RetentionPeriods>) =>
  createRetention({ db: database.db, clock: createFakeClock(nowMs), keep: { ...FOREVER, ...keep } })

const ofThisTest = (months: string[]) => months.filter(name => name.includes('_203'))

describe('monthly partitions', () => {
  test('are created ahead of time, also across a new year', async () => {
    const newYear = Date.UTC(2031, 0, 1)
    await ensureMonths(database.db, Date.UTC(2030, 11, 15))
    await put(newYear - 1)
    await put(newYear)
    for (const table of TABLES) expect(await places(table)).toEqual([`${table}_2030_12`, `${table}_2031_01`])
    await ensureMonths(database.db, newYear)
    await put(Date.UTC(2031, 1, 1))
    for (const table of TABLES) expect((await places(table)).at(-1)).toBe(`${table}_2031_02`)
  })

  test('are dropped when their last moment is older than the retention period, and not before', async () => {
    await put(NOVEMBER)
    const endOfNovember = Date.UTC(2030, 11, 1)
    const keep = { eventsMs: 30 * DAY_MS, inboundMs: 400 * DAY_MS, verificationsMs: 30 * DAY_MS }
    expect(ofThisTest(await retentionAt(endOfNovember + 30 * DAY_MS - 1, keep).round())).toEqual([])
    expect(await places('events')).toEqual(['events_2030_11'])
    const later = retentionAt(endOfNovember + 30 * DAY_MS, keep)
    expect(ofThisTest(await later.round())).toEqual([
      'deliveries_2030_11',
      'events_2030_11',
      'verifications_2030_11',
    ])
    expect(await later.round()).toEqual([])
    expect(await places('events')).toEqual([])
    expect(await places('deliveries')).toEqual([])
    expect(await places('verifications')).toEqual([])
    expect(await places('inbound_messages')).toEqual(['inbound_messages_2030_11'])
    const muchLater = retentionAt(endOfNovember + 400 * DAY_MS, keep)
    expect(ofThisTest(await muchLater.round())).toContain('inbound_messages_2030_11')
  })

  test('are kept forever without a retention period', async () => {
    await put(NOVEMBER)
    expect(await retentionAt(Date.UTC(2100, 0, 1), FOREVER).round()).toEqual([])
    for (const table of TABLES) expect(await places(table)).toEqual([`${table}_2030_11`])
  })

  test('are kept while they contain a pending delivery', async () => {
    await put(NOVEMBER, 'pending')
    const retention = retentionAt(Date.UTC(2031, 5, 1), { eventsMs: 30 * DAY_MS, inboundMs: null })
    expect(await retention.round()).not.toContain('deliveries_2030_11')
    expect(await places('deliveries')).toEqual(['deliveries_2030_11'])
    await database.db.query({ name: 't_end', text: `update deliveries set status = 'failed'` })
    expect(await retention.round()).toContain('deliveries_2030_11')
  })

  test('of events are kept while one of them is still to be delivered, whatever month its delivery is of', async () => {
    await put(NOVEMBER)
    await database.db.query({
      name: 't_later_delivery',
      text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, due_at)
             values ($1, $2, 'endpoint', $1, $1, 'message.sent', now())`,
      values: [firstUuidAt(NOVEMBER), firstUuidAt(Date.UTC(2030, 11, 1))],
    })
    const retention = retentionAt(Date.UTC(2031, 5, 1), { eventsMs: 30 * DAY_MS, inboundMs: null })
    await retention.round()
    expect(await places('events')).toEqual(['events_2030_11'])
    expect(await places('deliveries')).toEqual(['deliveries_2030_12'])
    await database.db.query({ name: 't_end', text: `update deliveries set status = 'failed'` })
    await retention.round()
    expect(await places('events')).toEqual([])
  })

  test('that were never created: old rows of the default partition are deleted, except pending deliveries and their events', async () => {
    await put(Date.UTC(2029, 3, 1))
    await put(Date.UTC(2029, 4, 1), 'pending')
    expect(await places('events')).toEqual(['events_other', 'events_other'])
    const retention = retentionAt(NOVEMBER, { eventsMs: 30 * DAY_MS, inboundMs: null })
    await retention.round()
    expect(await places('deliveries')).toEqual(['deliveries_other'])
    // Its event stays with it.
    expect(await places('events')).toEqual(['events_other'])
    expect(await places('inbound_messages')).toHaveLength(2)
    await database.db.query({ name: 't_end', text: `update deliveries set status = 'failed'` })
    await retention.round()
    expect(await places('deliveries')).toEqual([])
    expect(await places('events')).toEqual([])
  })

  test('in use are left for the next round, while those of other tables are dropped', async () => {
    await put(NOVEMBER)
    const retention = retentionAt(Date.UTC(2031, 5, 1), { eventsMs: 30 * DAY_MS, inboundMs: null })
    const user = await database.db.dedicated()
    try {
      await user.query('begin')
      await user.query('select * from deliveries')
      await expect(retention.round()).rejects.toThrow()
      expect(await places('deliveries')).toEqual(['deliveries_2030_11'])
      // The other tables are cleaned up all the same.
      expect(await places('events')).toEqual([])
      await user.query('commit')
      expect(await retention.round()).toContain('deliveries_2030_11')
    } finally {
      await user.end()
    }
  })
})

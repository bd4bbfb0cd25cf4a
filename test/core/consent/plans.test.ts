import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  deleteByRecipient,
  findSuppressed,
  listSuppressions,
  type SuppressionId,
} from '../../../src/core/consent/store.ts'
import { createDatabase, type Database, type Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, fromUuid, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** What the planner knows of the empty table, and so many rows that it would choose other plans if it knew of them. */
const STATES = [
  ['never analysed', 200_000],
  ['analysed', 20_000],
] as const
/** Chats of bots, which are looked up beside suppressions. */
const CHATS = 20_000
/** Suppressions that are removed at once. */
const BATCH = 100

const ids = createIds(systemClock, createRandom())
const accountId = ids.next('acc')
const connectionId = ids.next('cnn')
let database: TestDatabase
let db: Database

beforeEach(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 120_000 })
})
afterEach(async () => {
  await db.close()
  await database.drop()
})

/** How often the session has scanned suppressions, SMS senders or the chats of bots. */
async function scans(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 't_scans',
    text: `select coalesce(sum(seq_scan), 0)::integer as n from pg_stat_xact_user_tables
            where relname in ('suppressions', 'sms_senders', 'bot_subscribers')`,
  })
  return rows[0]!.n
}

const asked = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    accountId,
    key: at % 10 === 9 ? `-${from + at}` : `+1202555${from + at}`,
    connectionId,
    sender: at % 2 ? 'Acme' : null,
  }))

/** The number of suppressions that the session has read. */
async function rowsRead(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 't_rows',
    text: `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as n from pg_stat_xact_user_tables
            where relname = 'suppressions'`,
  })
  return rows[0]!.n
}

/** How many suppressions eight look-ups of a batch read, and how often they scan a table. */
async function ask(from: number): Promise<{ scans: number; rows: number }> {
  return db.transaction(async tx => {
    const before = { scans: await scans(tx), rows: await rowsRead(tx) }
    // Often enough that the server would use a generic plan.
    for (let n = 0; n < 8; n++) await findSuppressed(tx, asked(from + n * 10, BATCH))
    return { scans: (await scans(tx)) - before.scans, rows: (await rowsRead(tx)) - before.rows }
  })
}

/** The most rows that a page of the list reads, be it the first page or that after `last`. */
async function list(last: SuppressionId): Promise<number> {
  let most = 0
  const key = '+12025551001'
  const filters = [
    {},
    { channel: 'int_sms' },
    { channel: 'email_user' },
    { key },
    { key, channel: 'int_sms' },
  ] as const
  for (const filter of filters) {
    for (let n = 0; n < 16; n++) {
      await db.transaction(async tx => {
        const before = await rowsRead(tx)
        await listSuppressions(tx, accountId, filter, n % 2 ? last : null, 51)
        most = Math.max(most, (await rowsRead(tx)) - before)
      })
    }
  }
  return most
}

/** The most rows that the removal of a batch reads; half of the rows exist, once the table is filled. */
async function remove(from: number): Promise<number> {
  let most = 0
  for (let n = 0; n < 8; n++) {
    const items = asked(from + n * BATCH, BATCH).map(each => ({ ...each, channel: null, connectionId: null }))
    await db.transaction(async tx => {
      const before = await rowsRead(tx)
      await deleteByRecipient(tx, items)
      most = Math.max(most, (await rowsRead(tx)) - before)
    })
  }
  return most
}

test.each(STATES)(
  'suppressions are found, listed and removed by an index, by plans from an empty table that was %s',
  async (state, many) => {
    // Before, since it makes the session plan anew.
    await disableAutovacuum(db, ['suppressions', 'bot_subscribers'])
    if (state === 'analysed') await db.query({ name: 't_analyse', text: 'vacuum analyze' })
    expect(await ask(1000)).toEqual({ scans: 0, rows: 0 })
    expect(await list(ids.next('sup'))).toBe(0)
    expect(await remove(5_000)).toBe(0)
    await db.query({
      name: 't_fill',
      text: `insert into suppressions (account_id, id, recipient, recipient_key, channel, source)
           select $1, uuid_at(now()), '+1202555' || n, '+1202555' || n, case when n % 2 = 0 then '*' else 'int_sms' end, 'stop'
             from generate_series(1000, 1000 + ${many}) n`,
      values: [toUuid(accountId)],
    })
    await db.query({
      name: 't_chats',
      text: `insert into bot_subscribers (account_id, bot_id, chat_id, started_at, last_seen_at, seen_update, moved_to)
           select $1, uuid_at(now()), '-' || n, now(), now(), 1, case when n % 2 = 0 then '-100' || n end
             from generate_series(1000, 1000 + ${CHATS}) n`,
      values: [toUuid(accountId)],
    })
    const found = await ask(1000)
    expect(found.scans).toBe(0)
    expect(found.rows).toBeLessThanOrEqual(8 * BATCH)
    expect(await remove(5_000)).toBeLessThanOrEqual(BATCH)
    expect(await findSuppressed(db, asked(1000, 3))).toEqual([[null], ['int_sms'], [null]])
    expect(await findSuppressed(db, [{ ...asked(1000, 1)[0]!, accountId: ids.next('acc') }])).toEqual([[]])

    const { rows } = await db.query<{ id: string }>({
      name: 't_first',
      text: 'select id from suppressions order by id offset 100 limit 1',
    })
    const last = fromUuid('sup', rows[0]!.id)
    expect(await list(last)).toBeLessThanOrEqual(101)
    await db.query({ name: 't_anew', text: 'discard plans' })
    expect(await list(last)).toBeLessThanOrEqual(101)
    expect(await remove(15_000)).toBeLessThanOrEqual(BATCH)
  },
  60_000,
)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchSubscribers } from '../../../src/core/bots/subscriber-store.ts'
import { createDatabase, type Database } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** As whole rows they exceed the memory of a statement (4 MB); their row positions do not. */
const MANY = 30_000
const PAGE = 50

const ids = createIds(systemClock, createRandom())
const bot = { accountId: ids.next('acc'), id: ids.next('bot') }
let database: TestDatabase
/** A single database session, which keeps its query plans. */
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 60_000 })
  await db.query({
    name: 'fill',
    text: `insert into bot_subscribers (account_id, bot_id, chat_id, user_id, username, first_name, last_name, start_payload,
             started_at, last_seen_at, seen_update)
           select $1, $2, n::text, n::text, 'user' || n, 'Ada', 'Lovelace', repeat('x', 64),
                  now() - make_interval(secs => n), now(), n
             from generate_series(1, $3::integer) n`,
    values: [toUuid(bot.accountId), toUuid(bot.id), MANY],
  })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** Bytes that statements wrote to temporary files, and subscriber rows that they read. */
async function used(): Promise<{ bytes: number; rows: number }> {
  await db.query({ name: 'tell_now', text: 'select pg_stat_force_next_flush()' })
  const { rows } = await db.query<{ bytes: number; rows: number }>({
    name: 'used',
    text: `select d.temp_bytes as bytes, t.seq_tup_read + t.idx_tup_fetch as rows
             from pg_stat_database d, pg_stat_user_tables t
            where d.datname = current_database() and t.relname = 'bot_subscribers'`,
  })
  return rows[0]!
}

async function search(words: string, offset: number) {
  const before = await used()
  const { rows, total } = await searchSubscribers(db, bot, words, { offset, limit: PAGE })
  const after = await used()
  expect(after.bytes - before.bytes).toBe(0)
  expect(after.rows - before.rows).toBeLessThanOrEqual(MANY + PAGE)
  return { chats: rows.map(row => row.chatId), total }
}

async function searchAll(): Promise<void> {
  // Often enough that PostgreSQL switches to generic plans.
  for (let n = 0; n < 8; n++) {
    const offset = MANY - PAGE
    const chats = Array.from({ length: PAGE }, (_, at) => String(offset + at + 1))
    expect(await search('lovelace', offset)).toEqual({ chats, total: MANY })
    expect(await search('user', MANY + PAGE)).toEqual({ chats: [], total: MANY })
    expect(await search('@user29999', 0)).toEqual({ chats: ['29999'], total: 1 })
  }
}

test('a search reads each subscriber once and writes no temporary files, up to the last page', async () => {
  await searchAll()
  await db.query({ name: 'count_them', text: 'analyze bot_subscribers' })
  await searchAll()
}, 60_000)

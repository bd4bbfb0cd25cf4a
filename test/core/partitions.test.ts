import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropMonth, ensureMonths } from '../../src/core/outbox/month-store.ts'
import { firstUuidAt } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { lookUntil } from '../support/look-until.ts'

const MAY = Date.UTC(2031, 4, 9)
const AUGUST = Date.UTC(2031, 7, 1)
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function partitionCounts(): Promise<Record<string, number>> {
  const { rows } = await database.db.query<{ place: string; n: number }>({
    name: 't_places',
    text: 'select tableoid::regclass::text as place, count(*)::integer as n from events group by 1',
  })
  return Object.fromEntries(rows.map(row => [row.place, row.n]))
}

test('ensureMonths moves rows of the month from the default partition into the new one', async () => {
  for (const at of [MAY, AUGUST]) {
    await database.db.query({
      name: 't_event',
      text: `insert into events (account_id, id, type, at) values (gen_random_uuid(), $1, 'message.sent', now())`,
      values: [firstUuidAt(at)],
    })
  }
  expect(await partitionCounts()).toEqual({ events_other: 2 })
  await ensureMonths(database.db, MAY)
  expect(await partitionCounts()).toEqual({ events_2031_05: 1, events_other: 1 })
  await ensureMonths(database.db, MAY)
  expect(await partitionCounts()).toEqual({ events_2031_05: 1, events_other: 1 })
})

test('ensureMonths gives up while a reader locks the table, and blocks no insert meanwhile', async () => {
  const december = Date.UTC(2031, 11, 1)
  await database.db.transaction(async reader => {
    // pg_dump holds this lock during its whole run.
    await reader.query({ name: 't_read', text: 'lock table events in access share mode' })
    let ended = false
    const made = ensureMonths(database.db, december).then(
      () => 'made',
      () => 'put off',
    )
    void made.then(() => {
      ended = true
    })
    await lookUntil(waiting, n => ended || n > 0, 10_000)
    await database.db.transaction(async tx => {
      await tx.query({ name: 't_patience', text: `set local lock_timeout = '1500ms'` })
      await tx.query({
        name: 't_insert_beside',
        text: `insert into events (account_id, id, type, at) values (gen_random_uuid(), $1, 'message.sent', now())`,
        values: [firstUuidAt(december)],
      })
    })
    expect(await made).toBe('put off')
  })
  await ensureMonths(database.db, december)
  expect(await partitionCounts()).toMatchObject({ events_2031_12: 1 })
})

test('a table in use does not keep the others from their months, nor its rows from the month that they are of', async () => {
  const june = Date.UTC(2032, 5, 30)
  const insert = (table: 'events' | 'messages') =>
    database.db.query({
      name: `t_stray_${table}`,
      text:
        table === 'events'
          ? `insert into events (account_id, id, type, at) values (gen_random_uuid(), $1, 'message.sent', now())`
          : `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id,
               sender_source, candidates, content, amount, funding, money, attempt)
             values (gen_random_uuid(), $1, false, 'queued', 'local_sms', 'utility', '+12025550100', 'model', $1, 'platform',
               'local_sms', '{}', 0, 'none', 'none', 0)`,
      values: [firstUuidAt(june)],
    })
  await insert('events')
  await insert('messages')
  const made = async () => {
    const { rows } = await database.db.query<{ name: string }>({
      name: 't_made',
      text: `select relname::text as name from pg_class where relkind = 'r' and relname ~ '_2032_0[67]$' order by 1`,
    })
    return rows.map(({ name }) => name)
  }
  // Statements look through all months of messages again and again, as chores do each second.
  await database.db.transaction(async reader => {
    await reader.query({ name: 't_read_messages', text: 'lock table only messages in access share mode' })
    await expect(ensureMonths(database.db, june)).rejects.toThrow()
  })
  const tables = 'bulk_outcomes bulk_rows deliveries events inbound_messages messages verifications'.split(
    ' ',
  )
  const all = tables.flatMap(table => [`${table}_2032_06`, `${table}_2032_07`])
  expect(await made()).toEqual(all.filter(name => name !== 'messages_2032_07'))
  await ensureMonths(database.db, june)
  expect(await made()).toEqual(all)
})

test('a month is not dropped while another is made: each would lock tables that the other waits for', async () => {
  await ensureMonths(database.db, MAY)
  await database.db.transaction(async maker => {
    // As those take it that make one, before any table.
    await maker.query({
      name: 't_make',
      text: `select pg_advisory_xact_lock(hashtext('posthorn_partitions'))`,
    })
    await expect(dropMonth(database.db, 'inbound_messages_2031_05')).rejects.toThrow()
  })
  await dropMonth(database.db, 'inbound_messages_2031_05')
})

/** The number of table locks that are waited for in this database. */
async function waiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 't_waiting',
    text: `select count(*)::integer as n from pg_locks
            where not granted and relation is not null
              and database = (select oid from pg_database where datname = current_database())`,
  })
  return rows[0]!.n
}

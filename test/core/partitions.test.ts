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

test('a month is not dropped while another is made: each would lock tables that the other waits for', async () => {
  await ensureMonths(database.db, MAY)
  await database.db.transaction(async maker => {
    // As ensure_month takes it, before any table.
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

import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureMonths } from '../../src/core/outbox/month-store.ts'
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

async function places(): Promise<Record<string, number>> {
  const { rows } = await database.db.query<{ place: string; n: number }>({
    name: 't_places',
    text: 'select tableoid::regclass::text as place, count(*)::integer as n from events group by 1',
  })
  return Object.fromEntries(rows.map(row => [row.place, row.n]))
}

test('rows of a month that was made too late move in, and the others stay', async () => {
  for (const at of [MAY, AUGUST]) {
    await database.db.query({
      name: 't_event',
      text: `insert into events (account_id, id, type, at) values (gen_random_uuid(), $1, 'message.sent', now())`,
      values: [firstUuidAt(at)],
    })
  }
  expect(await places()).toEqual({ events_other: 2 })
  await ensureMonths(database.db, MAY)
  expect(await places()).toEqual({ events_2031_05: 1, events_other: 1 })
  await ensureMonths(database.db, MAY)
  expect(await places()).toEqual({ events_2031_05: 1, events_other: 1 })
})

test('a month that cannot be made because somebody reads is put off, and nobody waits behind it', async () => {
  const december = Date.UTC(2031, 11, 1)
  await database.db.transaction(async reader => {
    // As pg_dump does from its beginning to its end.
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
  expect(await places()).toMatchObject({ events_2031_12: 1 })
})

/** How many wait for somebody else's lock. */
async function waiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 't_waiting',
    text: `select count(*)::integer as n from pg_locks
            where not granted and relation is not null
              and database = (select oid from pg_database where datname = current_database())`,
  })
  return rows[0]!.n
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureMonths } from '../../src/core/outbox/sweep-store.ts'
import { firstUuidAt } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

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

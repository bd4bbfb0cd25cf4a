import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteOldJobs } from '../../../src/core/bulk/retention.ts'
import { ensureMonths } from '../../../src/core/outbox/month-store.ts'
import { firstUuidAt } from '../../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const JUNE = Date.UTC(2031, 5, 10)
const JULY = Date.UTC(2031, 6, 10)
const STRAY = Date.UTC(2029, 0, 10)
const DAY_MS = 86_400_000
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await ensureMonths(database.db, JUNE)
})
afterAll(() => database.drop())

async function put(atMs: number, endedMs: number | null): Promise<void> {
  const id = firstUuidAt(atMs)
  const ended = endedMs === null ? null : new Date(endedMs).toISOString()
  for (const [name, text, values] of [
    [
      't_job',
      `insert into bulk_jobs (account_id, id, live, key_id, status, ended_at) values ($1, $1, true, $1, $2, $3)`,
      [id, ended === null ? 'paused' : 'completed', ended],
    ],
    ['t_row', `insert into bulk_rows (account_id, job_id, n, body) values ($1, $1, 0, '{}')`, [id]],
    ['t_out', `insert into bulk_outcomes (account_id, job_id, n, state) values ($1, $1, 0, 'sent')`, [id]],
  ] as const) {
    await database.db.query({ name, text, values })
  }
}

async function left(): Promise<Record<string, number>> {
  const { rows } = await database.db.query<Record<string, number>>({
    name: 't_left',
    text: `select (select count(*) from bulk_jobs)::integer as jobs, (select count(*) from bulk_rows)::integer as rows,
                  (select count(*) from bulk_outcomes)::integer as outcomes`,
  })
  return rows[0]!
}

test('old jobs are deleted, and their rows when no unfinished job of the same month is left', async () => {
  await put(STRAY, STRAY + DAY_MS)
  await put(JUNE, JUNE + DAY_MS)
  await put(JUNE + DAY_MS, null)
  await put(JULY, JULY + DAY_MS)

  await deleteOldJobs(database.db, JUNE)
  expect(await left()).toEqual({ jobs: 3, rows: 3, outcomes: 3 })
  await deleteOldJobs(database.db, JULY)
  expect(await left()).toEqual({ jobs: 2, rows: 3, outcomes: 3 })
  await database.db.query({
    name: 't_end',
    text: `update bulk_jobs set status = 'cancelled', ended_at = $1 where status = 'paused'`,
    values: [new Date(JUNE + 3 * DAY_MS).toISOString()],
  })
  await deleteOldJobs(database.db, JULY)
  expect(await left()).toEqual({ jobs: 1, rows: 1, outcomes: 1 })
})

test('one call deletes more old jobs than are made between two', async () => {
  await database.db.query({
    name: 't_many',
    text: `insert into bulk_jobs (account_id, id, live, key_id, status, ended_at)
           select i.id, i.id, true, i.id, 'completed', $1 from generate_series(1, 1200) n, lateral (select uuid_at($1) as id where n > 0) i`,
    values: [new Date(JUNE).toISOString()],
  })
  await deleteOldJobs(database.db, JUNE + DAY_MS)
  expect(await left()).toMatchObject({ jobs: 1 })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RowStatus } from '../../../src/contract/bulk.ts'
import { listRows } from '../../../src/core/bulk/row-store.ts'
import { viewRow } from '../../../src/core/bulk/view.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
const ids = createIds(systemClock, createRandom())
const STATUSES: readonly RowStatus[] = ['pending', 'sent', 'failed', 'cancelled', 'invalid']

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Four rows: one found invalid, the next ones not looked at yet. */
async function createJob(status: 'cancelled' | 'rejected') {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const values = [toUuid(job.accountId), toUuid(job.id)]
  await database.db.query({
    name: 't_job',
    text: 'insert into bulk_jobs (account_id, id, live, key_id, status, total) values ($1, $2, true, $1, $3, 4)',
    values: [...values, status],
  })
  await database.db.query({
    name: 't_rows',
    text: `insert into bulk_rows select $1, $2, n, json_build_object('to', n::text)::text from generate_series(0, 3) as n`,
    values,
  })
  await database.db.query({
    name: 't_outcome',
    text: `insert into bulk_outcomes (account_id, job_id, n, state, error_code) values ($1, $2, 1, 'invalid', 'VALIDATION_ERROR')`,
    values,
  })
  return job
}

test.each([
  ['rejected', { pending: 3, sent: 0, failed: 0, cancelled: 0, invalid: 1 }],
  // As its counts have it, which say that all four were cancelled.
  ['cancelled', { pending: 0, sent: 0, failed: 0, cancelled: 4, invalid: 0 }],
] as const)(
  'each row of a job that was %s while it was validated has one status',
  async (status, expected) => {
    const job = await createJob(status)
    const ended = status === 'cancelled'
    const list = (asked?: RowStatus) => listRows(database.db, job, asked, ended, -1, 10)
    const all = await list()
    expect(all.map(row => row.n)).toEqual([0, 1, 2, 3])
    for (const asked of STATUSES) {
      const found = await list(asked)
      expect([asked, found.length]).toEqual([asked, expected[asked]])
      expect(found.map(row => viewRow(row, ended).status)).toEqual(found.map(() => asked))
      expect(found).toEqual(all.filter(row => viewRow(row, ended).status === asked))
    }
  },
)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepRows } from '../../../src/core/bulk/store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { firstUuidAt } from '../../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const PAGE = 500
const ROWS = 20_000
const NOW_MS = Date.now()
const account = firstUuidAt(0)
/** A job of the current month, and one of the month before. */
const [swept, kept] = [firstUuidAt(NOW_MS), firstUuidAt(NOW_MS - 32 * 24 * 3_600_000)]

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await run(`select ensure_month((now() - interval '32 days')::date)`)
  for (const job of [swept, kept]) {
    await run(`insert into bulk_rows (account_id, job_id, n, body)
      select '${account}', '${job}', n, '{}' from generate_series(1, ${ROWS}) n`)
  }
  await run(`insert into bulk_sweeps (account_id, job_id) values ('${account}', '${swept}')`)
})
afterAll(() => database.drop())

let statements = 0
const run = (text: string) => database.db.query({ name: `run_${++statements}`, text })

/** Rows that one page of the sweep reads, by the statistics of its transaction. */
async function rowsRead(): Promise<number> {
  return database.db.transaction(async tx => {
    const before = await countRows(tx)
    expect(await sweepRows(tx, PAGE)).toBe(PAGE + 1)
    return (await countRows(tx)) - before
  })
}

async function countRows(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_rows',
    text: `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as n from pg_stat_xact_user_tables
            where relname ~ '^bulk_rows'`,
  })
  return rows[0]!.n
}

test('a sweep of a rejected job reads only the rows of that job', async () => {
  expect(await rowsRead()).toBeLessThan(PAGE * 3)
  await run('analyze bulk_rows')
  expect(await rowsRead()).toBeLessThan(PAGE * 3)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPendingRows, readRows } from '../../../src/core/bulk/row-store.ts'
import { listHalfCancelled, sweepRows } from '../../../src/core/bulk/store.ts'
import { sealRows } from '../../../src/core/bulk/validate-store.ts'
import { createDatabase, type Db } from '../../../src/infra/db.ts'
import { firstUuidAt, fromUuid } from '../../../src/lib/ids.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeMonths } from '../../support/make-months.ts'

const PAGE = 500
const ROWS = 20_000
const NOW_MS = Date.now()
const account = firstUuidAt(0)
/** A job of the current month, and one of the month before. */
const [swept, kept] = [firstUuidAt(NOW_MS), firstUuidAt(NOW_MS - 32 * 24 * 3_600_000)]

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await makeMonths(database.db, new Date(NOW_MS - 32 * 24 * 3_600_000).toISOString().slice(0, 7))
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
            where relname ~ '^(bulk_|outbox|messages)'`,
  })
  return rows[0]!.n
}

test('a sweep of a rejected job reads only the rows of that job', async () => {
  expect(await rowsRead()).toBeLessThan(PAGE * 3)
  await run('analyze bulk_rows')
  expect(await rowsRead()).toBeLessThan(PAGE * 3)
})

/** The statements that run while a job is validated and sent, for a page of 20 rows from `from` on. */
async function callStatements(db: Db, job: string, from: number): Promise<Record<string, number>> {
  const ref = { accountId: fromUuid('acc', account), id: fromUuid('job', job) }
  const read: Record<string, number> = {}
  const look = async (name: string, work: (db: Db) => Promise<unknown>) => {
    const before = await countRows(db)
    await work(db)
    read[name] = (await countRows(db)) - before
  }
  await look('a page to validate', on => readRows(on, ref, from, 20))
  await look('a page to send', on => readPendingRows(on, [{ ...ref, from, limit: 20 }]))
  await look('sealing', on => sealRows(on, ref, [{ n: from, body: '{}' }]))
  await look('half cancelled', on => listHalfCancelled(on, 50))
  return read
}

test('pages of a large job read few rows by plans made for small ones, or for tables that autovacuum found empty', async () => {
  const fresh = await createTestDatabase()
  // A single session, which keeps its plans.
  const db = createDatabase({ connectionString: fresh.url, poolSize: 1, queryTimeoutMs: 60_000 })
  const large = firstUuidAt(NOW_MS)
  const insert = (job: string, from: number, to: number) => ({
    name: `insert_${from}`,
    text: `insert into bulk_rows (account_id, job_id, n, body)
      select '${account}', '${job}', n, '{}' from generate_series(${from}, ${to}) n`,
  })
  try {
    await db.query({ name: 'vacuum', text: 'vacuum analyze' })
    await disableAutovacuum(db, ['bulk_rows', 'bulk_outcomes'])
    await db.query(insert(large, 0, 19))
    // Often enough that the server keeps a plan for all values.
    for (let time = 0; time < 8; time++) await callStatements(db, large, 0)
    await db.query(insert(large, 20, ROWS))
    await db.transaction(async tx => {
      for (const [name, read] of Object.entries(await callStatements(tx, large, ROWS - 100)))
        expect(read, name).toBeLessThan(200)
    })
  } finally {
    await db.close()
    await fresh.drop()
  }
}, 60_000)

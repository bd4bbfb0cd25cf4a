import type { Database } from '../../infra/db.ts'
import { dropMonth, listMonthsBefore } from '../outbox/month-store.ts'
import { hasJobsInMonth, sweepJobs, sweepStrayRows } from './store.ts'

/** Rows and outcomes are dropped with the month of their job; messages are kept. */
const TABLES = ['bulk_rows', 'bulk_outcomes'] as const
const JOBS_AT_ONCE = 500
/** Pages of jobs that one call deletes: more jobs than are made between two calls. */
const MAX_PAGES = 100
const STRAYS_AT_ONCE = 20_000

/**
 * Deletes jobs that were created and ended before a time, and drops the months of rows without
 * remaining jobs: a job that is paused for long keeps its month.
 */
export async function deleteOldJobs(db: Database, beforeMs: number): Promise<void> {
  for (let page = 0; page < MAX_PAGES; page++) {
    if ((await sweepJobs(db, beforeMs, JOBS_AT_ONCE)) < JOBS_AT_ONCE) break
  }
  for (const table of TABLES) {
    for (const month of await listMonthsBefore(db, table, beforeMs)) {
      if (!(await hasJobsInMonth(db, month))) await dropMonth(db, month)
    }
    await sweepStrayRows(db, table, beforeMs, STRAYS_AT_ONCE)
  }
}

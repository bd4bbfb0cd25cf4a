import type { Database } from '../../infra/db.ts'
import { dropMonth, listMonthsBefore } from '../outbox/month-store.ts'
import { hasJobsOf, sweepJobs, sweepStrayRows } from './store.ts'

/** Rows and what became of them go with the month of their job; the messages stay. */
const TABLES = ['bulk_rows', 'bulk_outcomes'] as const
const JOBS_AT_ONCE = 500
const STRAYS_AT_ONCE = 20_000

/**
 * Forgets jobs that ended, and were made, before a time, and the months of rows in
 * which no job is left: one that was paused for long keeps its month.
 */
export async function forgetJobs(db: Database, beforeMs: number): Promise<void> {
  await sweepJobs(db, beforeMs, JOBS_AT_ONCE)
  for (const table of TABLES) {
    for (const month of await listMonthsBefore(db, table, beforeMs)) {
      if (!(await hasJobsOf(db, month))) await dropMonth(db, month)
    }
    await sweepStrayRows(db, table, beforeMs, STRAYS_AT_ONCE)
  }
}

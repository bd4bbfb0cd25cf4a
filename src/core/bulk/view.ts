import type { BulkEventData, BulkJob, BulkRow, RowStatus } from '../../contract/bulk.ts'
import { toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { Job } from './job.ts'
import type { RowOutcome } from './row-store.ts'

export function viewJob(job: Job): BulkJob {
  return {
    id: job.id,
    name: job.name,
    status: job.status,
    messagesPerSecond: job.perSecond,
    pauseReason: job.pauseReason,
    total: job.total,
    validatedCount: job.validated,
    counts: countsOf(job),
    errorCode: job.errorCode,
    errorMessage: job.errorMessage,
    createdAt: toIso(timeOf(job.id)),
  }
}

type Counted = Pick<Job, 'total' | 'sent' | 'failed' | 'cancelled'>

export function countsOf({ total, sent, failed, cancelled }: Counted): BulkEventData['counts'] {
  return { pending: total - sent - failed - cancelled, sent, failed, cancelled }
}

/** `ended`: the job was cancelled, and with it all rows that were not handed over. */
export function viewRow(row: RowOutcome, ended: boolean): BulkRow {
  return {
    index: row.n,
    to: row.to,
    status: statusOf(row, ended),
    messageId: row.messageId,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
  }
}

function statusOf({ state }: RowOutcome, ended: boolean): RowStatus {
  if (state === null) return ended ? 'cancelled' : 'pending'
  return state === 'open' ? 'pending' : state
}

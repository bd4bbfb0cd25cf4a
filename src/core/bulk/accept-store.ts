import { bareArray } from '../../infra/pg-array.ts'
import type { AcceptStore } from '../messages/accept.ts'
import {
  ACCEPT_PLACES,
  type AcceptRow,
  type AcceptVerdict,
  acceptValues,
  HOT_TIMEOUT_MS,
  places,
  readVerdicts,
  SEND_OPERATION,
  type VerdictRow,
} from '../messages/hot-store.ts'
import type { JobId } from './job.ts'

/** A row of a job on its way to be a message. */
export type BulkAcceptRow = AcceptRow & {
  bulkJobId: JobId
  n: number
  /** Of the lane, as it was when the row was taken from it. */
  fence: number
  /** It was tried before, and may be stored. */
  retried: boolean
}

export type BulkVerdict =
  | AcceptVerdict
  /** Not from here: the lane is another node's, or the row is a message already. */
  | { kind: 'stale' }
  /** The job has ended. */
  | { kind: 'over' }
  /** An earlier try had stored it; it goes its way from the store. */
  | { kind: 'known' }
  /** Nothing was done with it; to be tried again. */
  | { kind: 'later' }

const ACCEPT_BULK = `select * from accept_bulk(${places(ACCEPT_PLACES + 2)})`

/** What is said of every item of a batch of which one must not go. */
type Refused = 'stale' | 'over' | 'later'
type BulkVerdictRow = Omit<VerdictRow, 'verdict'> & { verdict: VerdictRow['verdict'] | Refused }

/** Rows of bulk jobs, each with what makes it impossible to send it twice (migrations/functions/accept_bulk.sql). */
export const BULK_ROWS: AcceptStore<BulkAcceptRow, BulkVerdict> = {
  async accept(db, node, nowMs, rows, repeated) {
    const { rows: exceptions } = await db.query<BulkVerdictRow>({
      name: 'accept_bulk',
      text: ACCEPT_BULK,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, SEND_OPERATION, rows, repeated || rows.some(row => row.retried)),
        bareArray(rows.map(row => row.n)),
        bareArray(rows.map(row => row.fence)),
      ],
    })
    if (isRefused(exceptions[0])) return exceptions.map(({ verdict }) => ({ kind: verdict as Refused }))
    const verdicts: BulkVerdict[] = readVerdicts(rows, exceptions as VerdictRow[])
    for (const { item, verdict } of exceptions) {
      if (verdict === 'again' && rows[item - 1]!.retried) verdicts[item - 1] = { kind: 'known' }
    }
    return verdicts
  },
}

function isRefused(first: BulkVerdictRow | undefined): boolean {
  return first?.verdict === 'stale' || first?.verdict === 'over' || first?.verdict === 'later'
}

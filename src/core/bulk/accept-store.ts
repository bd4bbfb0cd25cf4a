import { int4Array, int8Array } from '../../infra/pg-array.ts'
import type { AcceptStore } from '../messages/accept.ts'
import {
  ACCEPT_PARAMETERS,
  type AcceptRow,
  type AcceptVerdict,
  acceptValues,
  HOT_TIMEOUT_MS,
  placeholders,
  readVerdicts,
  SEND_OPERATION,
  type VerdictRow,
} from '../messages/hot-store.ts'
import type { JobId } from './job.ts'

/** A row of a job that is to be accepted as a message. */
export type BulkAcceptRow = AcceptRow & {
  bulkJobId: JobId
  n: number
  /** The fence of the lane's lease when the row was read. */
  fence: number
  /** An earlier accept of the row had no answer, so it may be stored already. */
  retried: boolean
}

export type BulkVerdict =
  | AcceptVerdict
  /** This node may not send it: another node has the lane, or the row is a message already. */
  | { kind: 'stale' }
  /** The job has ended. */
  | { kind: 'over' }
  /** It is stored, by an earlier accept, or (`byThisOne`) maybe by a call of this one whose answer was lost. It is sent from the outbox. */
  | { kind: 'known'; byThisOne: boolean }
  /** Not tried, because another item of the batch was refused; to be tried again. */
  | { kind: 'later' }

const ACCEPT_BULK = `select * from accept_bulk(${placeholders(ACCEPT_PARAMETERS + 2)})`

/** Verdicts of a batch with an item that must not be sent: nothing of such a batch is stored. */
type Refused = 'stale' | 'over' | 'later'
type BulkVerdictRow = Omit<VerdictRow, 'verdict'> & { verdict: VerdictRow['verdict'] | Refused }

/** Accepts rows of bulk jobs, and makes sure that no row is sent twice (migrations/functions/accept_bulk.sql). */
export const BULK_ROWS: AcceptStore<BulkAcceptRow, BulkVerdict> = {
  async accept(db, node, nowMs, rows, repeated) {
    const { rows: exceptions } = await db.query<BulkVerdictRow>({
      name: 'accept_bulk',
      text: ACCEPT_BULK,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, SEND_OPERATION, rows, repeated || rows.some(row => row.retried)),
        int4Array(rows, row => row.n),
        int8Array(rows, row => row.fence),
      ],
    })
    if (isRefused(exceptions[0])) return exceptions.map(({ verdict }) => ({ kind: verdict as Refused }))
    const verdicts: BulkVerdict[] = readVerdicts(rows, exceptions as VerdictRow[])
    for (const { item, verdict } of exceptions) {
      if (verdict === 'again' && rows[item - 1]!.retried) {
        verdicts[item - 1] = { kind: 'known', byThisOne: repeated }
      }
    }
    return verdicts
  },
}

function isRefused(first: BulkVerdictRow | undefined): boolean {
  return first?.verdict === 'stale' || first?.verdict === 'over' || first?.verdict === 'later'
}

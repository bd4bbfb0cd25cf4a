import type { BulkError, BulkStatus, PauseReason } from '../../contract/bulk.ts'
import { type AccountId, fromUuid, type Id } from '../../lib/ids.ts'

export type JobId = Id<'job'>

/** The primary key of a job. */
export type JobRef = { accountId: AccountId; id: JobId }

/** A stored job. */
export type Job = JobRef & {
  live: boolean
  keyId: Id<'key'>
  /** SHA-256 of the request (identity.ts); null until the intake has ended. */
  bodyHash: Buffer | null
  name: string
  perSecond: number | null
  status: BulkStatus
  pauseReason: PauseReason | null
  total: number
  validated: number
  invalid: number
  sent: number
  failed: number
  cancelled: number
  errorCode: BulkError | null
  errorMessage: string | null
}

export type RawJob = {
  account_id: string
  id: string
  live: boolean
  key_id: string
  body_hash: Buffer | null
  name: string
  per_second: number | null
  status: BulkStatus
  pause_reason: PauseReason | null
  total: number
  validated: number
  invalid: number
  sent: number
  failed: number
  cancelled: number
  error_code: BulkError | null
  error_message: string | null
}

/** The columns of a `RawJob`. */
export const JOB_COLUMNS = `account_id, id, live, key_id, body_hash, name, per_second, status, pause_reason, total, validated,
  invalid, sent, failed, cancelled, error_code, error_message`

export function toJob(raw: RawJob): Job {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('job', raw.id),
    live: raw.live,
    keyId: fromUuid('key', raw.key_id),
    bodyHash: raw.body_hash,
    name: raw.name,
    perSecond: raw.per_second,
    status: raw.status,
    // A job that is not validated yet may be stored with the reason for which it is paused then.
    pauseReason: raw.status === 'paused' ? raw.pause_reason : null,
    total: raw.total,
    validated: raw.validated,
    invalid: raw.invalid,
    sent: raw.sent,
    failed: raw.failed,
    cancelled: raw.cancelled,
    errorCode: raw.error_code,
    errorMessage: raw.error_message,
  }
}

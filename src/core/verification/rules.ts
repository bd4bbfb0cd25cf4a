import { Problem } from '../../contract/errors.ts'
import type { VerificationStatus } from '../../contract/verification.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { VerificationRow } from './store.ts'

/** The wrong codes that an attempt allows, over all its resends; migrations/functions/check_codes.sql counts them. */
export const MAX_TRIES = 5
/** The waits before the first resend, the second, and so on; there are no further resends. */
const RESEND_AFTER_MS = [60_000, 60_000, 120_000, 240_000, 300_000]
const MAX_RESENDS = RESEND_AFTER_MS.length

/** Before the first of them, in ms. */
export const FIRST_RESEND_AFTER_MS = RESEND_AFTER_MS[0]!

/** When the next code may be asked for after one that was sent at `sentAtMs`; null for never. */
export function resendAtMs(resends: number, sentAtMs: number): number | null {
  const waitMs = RESEND_AFTER_MS[resends]
  return waitMs === undefined ? null : sentAtMs + waitMs
}

/** With the states that are not stored: expired, and superseded; pure. */
export function statusOf(row: VerificationRow, nowMs: number): VerificationStatus {
  if (row.status === 'verified' || row.status === 'failed') return row.status
  if (!row.current) return 'superseded'
  if (row.status === 'exhausted') return 'exhausted'
  return nowMs >= row.expiresAt ? 'expired' : 'pending'
}

/** Throws if a resend is not allowed, or not yet; pure. */
export function checkResend(row: VerificationRow, nowMs: number): void {
  const endsAt = endOf(row)
  const untilEnd = { retryAfterSeconds: (endsAt - nowMs) / 1_000 }
  switch (statusOf(row, nowMs)) {
    case 'verified':
      throw new Problem('VERIFICATION_ALREADY_USED')
    case 'superseded':
    case 'failed':
      throw unknownVerification()
    case 'exhausted':
      if (nowMs < row.expiresAt) throw exhausted(row.expiresAt, nowMs)
      throw new Problem('VERIFICATION_EXPIRED')
    default:
  }
  if (nowMs >= endsAt) throw new Problem('VERIFICATION_EXPIRED')
  if (row.resends >= MAX_RESENDS) throw new Problem('RESEND_LIMIT', undefined, untilEnd)
  if (nowMs < row.resendAt) {
    throw new Problem('RESEND_TOO_SOON', undefined, { retryAfterSeconds: (row.resendAt - nowMs) / 1_000 })
  }
}

/** Whether a new code may be sent for it, now or later; pure. */
export function isResendable(row: VerificationRow, nowMs: number): boolean {
  const status = statusOf(row, nowMs)
  if (status !== 'pending' && status !== 'expired') return false
  return row.resends < MAX_RESENDS && nowMs < endOf(row)
}

/** Codes that expire before another may be sent would leave nothing to resend: such an attempt lasts a validity longer. */
function endOf({ resends, resendAt, expiresAt, validityMinutes }: VerificationRow): number {
  if (resends >= MAX_RESENDS || resendAt < expiresAt) return expiresAt
  return resendAt + validityMinutes * MINUTE_MS
}

/** The error after too many wrong codes, until the attempt expires. */
export function exhausted(expiresAtMs: number, nowMs: number): Problem {
  return new Problem('VERIFICATION_ATTEMPTS_EXHAUSTED', undefined, {
    retryAfterSeconds: (expiresAtMs - nowMs) / 1_000,
  })
}

/** Nobody's, another key mode's, superseded, or never sent: the caller cannot tell them apart. */
export function unknownVerification(): Problem {
  return new Problem('NOT_FOUND', 'There is no such verification.')
}

import type { BulkJob, BulkStatus } from '../../../../sdk/index.ts'

/** Messages that were settled in one second. */
export type RateSample = { atMs: number; perSecond: number }

export const ENDED_STATUSES: ReadonlySet<BulkStatus> = new Set(['completed', 'rejected', 'cancelled'])

/** Whether the job is final: after a cancel, messages in flight still have to settle. */
export function isFinished({ status, counts }: BulkJob): boolean {
  return ENDED_STATUSES.has(status) && (status !== 'cancelled' || counts.pending === 0)
}

/** A job is stalled after so many seconds without a settled row: even the slowest one settles one a second. */
const STALLED_SECONDS = 5

/**
 * The remaining time at the job's rate, if nothing else is running. Null if it does not progress by
 * `samples`, one a second: rows may wait for another job, the end of quiet hours, or hours for a provider.
 */
export function secondsLeft(
  { status, counts, messagesPerSecond }: BulkJob,
  samples: readonly RateSample[],
): number | null {
  if (status !== 'running' || messagesPerSecond === null) return null
  if (!samples.slice(-STALLED_SECONDS).some(({ perSecond }) => perSecond > 0)) return null
  return Math.ceil(counts.pending / messagesPerSecond)
}

/** `90` is "1 min 30 s". */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

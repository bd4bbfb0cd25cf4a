import type { BulkJob, BulkStatus } from '../../../../sdk/index.ts'

export const ENDED: ReadonlySet<BulkStatus> = new Set(['completed', 'rejected', 'cancelled'])

/** Nothing of it changes any more: what was on its way when it was cancelled still counts. */
export function isOver({ status, counts }: BulkJob): boolean {
  return ENDED.has(status) && (status !== 'cancelled' || counts.pending === 0)
}

/** At its own pace, were nothing else under way; null where it does not move. */
export function secondsLeft({ status, counts, messagesPerSecond }: BulkJob): number | null {
  if (status !== 'running' || messagesPerSecond === null) return null
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

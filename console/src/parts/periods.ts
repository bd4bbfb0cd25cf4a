import { perRequest } from '../api/per-request.ts'
import { nowMs } from '../api/server-clock.ts'

const HOUR_MS = 3_600_000

/** From the shortest. */
const LENGTHS = [
  ['1h', 'Last hour', HOUR_MS],
  ['24h', 'Last 24 hours', 24 * HOUR_MS],
  ['7d', 'Last 7 days', 168 * HOUR_MS],
  ['30d', 'Last 30 days', 720 * HOUR_MS],
] as const

export const PERIODS = LENGTHS.map(([value, label]) => ({ value, label }))

/** The start of a period, as ISO 8601, at the time of each request; null for all of time. */
export function periodStart(period: string | undefined): string | null {
  const length = LENGTHS.find(([value]) => value === period)
  if (!length) return null
  const [name, , lengthMs] = length
  return perRequest(name, () => new Date(nowMs() - lengthMs).toISOString())
}

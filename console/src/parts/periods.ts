const HOUR_MS = 3_600_000

/** From the shortest. */
const LENGTHS = [
  ['1h', 'Last hour', HOUR_MS],
  ['24h', 'Last 24 hours', 24 * HOUR_MS],
  ['7d', 'Last 7 days', 168 * HOUR_MS],
  ['30d', 'Last 30 days', 720 * HOUR_MS],
] as const

export const PERIODS = LENGTHS.map(([value, label]) => ({ value, label }))
const STEP_MS = 60_000

/**
 * The start of a period, as ISO 8601; null for all of time. In whole minutes, so that the query, and with it
 * the cache key, stays the same for a while.
 */
export function periodStart(period: string | undefined): string | null {
  const length = LENGTHS.find(([value]) => value === period)
  if (!length) return null
  return new Date(Math.floor((Date.now() - length[2]) / STEP_MS) * STEP_MS).toISOString()
}

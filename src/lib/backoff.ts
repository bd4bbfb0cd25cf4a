import type { Random } from './random.ts'

/**
 * How long to wait before try `attempt + 1`, in ms: `baseMs` doubled with each failed attempt (1 is the
 * first) up to `capMs`. The upper half of it is random (jitter), so that clients that failed at the same time
 * do not retry at the same time.
 */
export function backoffMs(baseMs: number, attempt: number, random: Random, capMs: number): number {
  // Beyond 2^30 the cap applies anyway; the bound keeps the power finite.
  const doublings = Math.min(Math.max(attempt - 1, 0), 30)
  const fullMs = Math.min(baseMs * 2 ** doublings, capMs)
  return Math.round(fullMs / 2 + random.fraction() * (fullMs / 2))
}

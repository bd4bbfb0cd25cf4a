import type { Random } from './random.ts'

/**
 * How long to wait before try `attempt + 1`, in ms: `baseMs` doubled with each
 * failed attempt (1 is the first) up to `capMs`, of which the upper half is
 * drawn at random, so that what failed together does not come back together.
 */
export function backoffMs(baseMs: number, attempt: number, random: Random, capMs: number): number {
  // Past 2^30 the cap rules in any case; the bound keeps the power finite.
  const doublings = Math.min(Math.max(attempt - 1, 0), 30)
  const fullMs = Math.min(baseMs * 2 ** doublings, capMs)
  return Math.round(fullMs / 2 + random.fraction() * (fullMs / 2))
}

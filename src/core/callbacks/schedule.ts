import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'
import type { Random } from '../../lib/random.ts'

/** Delays between attempts, in ms: ten attempts within some three days. */
const DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
/** 10 % to either side, so that deliveries that failed together are not retried together. */
const JITTER = 0.1
/** The longest that each of them may be, in ms. */
export const LONGEST_DELAYS_MS: readonly number[] = DELAYS_MS.map(ms => Math.round(ms * (1 + JITTER)))

/** How long to wait after this many failed attempts, in ms; null when it was the last. */
export function retryDelayMs(failed: number, random: Random): number | null {
  const delayMs = DELAYS_MS[failed - 1]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - JITTER + 2 * JITTER * random.fraction()))
}

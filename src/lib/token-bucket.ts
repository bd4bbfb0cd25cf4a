import { createGenerations } from './generations.ts'

/** The result of taking a token. */
export type Verdict = {
  allowed: boolean
  /** Further requests that would be allowed right now. */
  remaining: number
  /** Whole seconds until the bucket is full; 0 if it is. */
  resetSeconds: number
  /** Milliseconds until the next request is allowed; 0 if this one was. */
  retryAfterMs: number
}

export type TokenBuckets = {
  /**
   * Takes one token of `key` at `nowMs` (of any clock that does not run backwards). The bucket holds `burst`
   * tokens and gains `ratePerSecond`; both may change between calls.
   */
  take(key: string, ratePerSecond: number, burst: number, nowMs: number): Verdict
  /** Gives back a token that `take` took. A bucket that is full again is no longer held, so that it evicts no other. */
  refund(key: string, ratePerSecond: number, nowMs: number): void
  size(): number
}

/** Half a microsecond, for rounding errors. */
const TOLERANCE_MS = 0.0005

/**
 * Token buckets by the generic cell rate algorithm: a bucket is one number, the time at which it will be full
 * again. At most `maxBuckets` are held. Those that were not used for longest are evicted first, and are most
 * likely full then, so that nothing is lost.
 */
export function createTokenBuckets(maxBuckets: number): TokenBuckets {
  const fullAtMs = createGenerations<string, number>(maxBuckets)

  function take(key: string, ratePerSecond: number, burst: number, nowMs: number): Verdict {
    const perTokenMs = 1000 / ratePerSecond
    const depthMs = burst * perTokenMs
    // After the rate was lowered, an old debt must not last longer than one whole bucket.
    const fromMs = Math.min(Math.max(fullAtMs.get(key) ?? nowMs, nowMs), nowMs + depthMs)
    const untilMs = fromMs + perTokenMs
    const allowed = untilMs - nowMs <= depthMs + TOLERANCE_MS
    if (allowed) fullAtMs.set(key, untilMs)
    const debtMs = (allowed ? untilMs : fromMs) - nowMs
    return {
      allowed,
      remaining: Math.max(0, Math.floor((depthMs - debtMs) / perTokenMs + 1e-6)),
      resetSeconds: Math.ceil(debtMs / 1000),
      retryAfterMs: allowed ? 0 : Math.ceil(untilMs - nowMs - depthMs),
    }
  }

  function refund(key: string, ratePerSecond: number, nowMs: number): void {
    const heldMs = fullAtMs.get(key)
    if (heldMs === undefined) return
    const untilMs = heldMs - 1000 / ratePerSecond
    if (untilMs > nowMs + TOLERANCE_MS) fullAtMs.set(key, untilMs)
    else fullAtMs.delete(key)
  }

  return { take, refund, size: () => fullAtMs.size() }
}

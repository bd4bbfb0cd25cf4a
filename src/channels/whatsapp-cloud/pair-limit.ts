import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'

/**
 * How often one number may write to one recipient: a message every six seconds, and bursts of up to 45
 * that use up the following intervals. Source: "Pair rate limits",
 * https://developers.facebook.com/docs/whatsapp/cloud-api/overview#pair-rate-limits.
 */
const EVERY_MS = 6_000
const BURST = 45
/** Recipients remembered. A forgotten one counts as free; WhatsApp then refuses what is too early. */
const MAX_RECIPIENTS = 50_000
/** WhatsApp's advice: wait 4^n seconds after the nth refusal in a row. */
const REFUSED_MS = 1_000
const MAX_REST_MS = 3_600_000

export type PairLimit = {
  /** 0: a place was taken. Otherwise no place was taken, and one is free in so many ms. */
  acquire(to: string): number
  /** The message was not sent after all. */
  release(to: string): void
  /** WhatsApp took a message to this recipient. */
  recordAccepted(to: string): void
  /** WhatsApp refused a message as too early; returns the ms to wait. */
  recordRefused(to: string): number
}

/** `fullAtMs`: when the whole burst is available again. */
type Pair = { fullAtMs: number; pausedUntilMs: number; refusals: number }

/** Paces sends to each recipient; counts only sends of this node. */
export function createPairLimit(clock: Pick<Clock, 'monotonic'>): PairLimit {
  const pairs = createLru<string, Pair>(MAX_RECIPIENTS)

  function pairOf(to: string): Pair {
    const known = pairs.get(to)
    if (known) return known
    const pair: Pair = { fullAtMs: 0, pausedUntilMs: 0, refusals: 0 }
    pairs.set(to, pair)
    return pair
  }

  return {
    acquire(to) {
      const pair = pairOf(to)
      const nowMs = clock.monotonic()
      const borrowedMs = Math.max(0, pair.fullAtMs - nowMs)
      const waitMs = Math.max(borrowedMs - (BURST - 1) * EVERY_MS, pair.pausedUntilMs - nowMs)
      if (waitMs > 0) return Math.ceil(waitMs)
      pair.fullAtMs = nowMs + borrowedMs + EVERY_MS
      return 0
    },
    release(to) {
      const pair = pairs.get(to)
      if (pair) pair.fullAtMs -= EVERY_MS
    },
    recordAccepted(to) {
      const pair = pairs.get(to)
      if (pair) pair.refusals = 0
    },
    recordRefused(to) {
      const pair = pairOf(to)
      const nowMs = clock.monotonic()
      // Messages that were under way at the same time are refused together: that counts as one refusal.
      if (pair.pausedUntilMs > nowMs) return Math.ceil(pair.pausedUntilMs - nowMs)
      const restMs = Math.min(REFUSED_MS * 4 ** pair.refusals, MAX_REST_MS)
      pair.refusals++
      pair.pausedUntilMs = nowMs + restMs
      return restMs
    },
  }
}

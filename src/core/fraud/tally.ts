import type { FraudRule } from '../../contract/fraud.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'

/**
 * What is counted of one key: a range of numbers, a country, a caller's address,
 * a day's spending, a whole account. All of it stands as of `atMs`.
 *
 * A pressure rises by one with every code that is sent, falls by several with
 * every code that is confirmed, leaks by the hour, and is never negative: where
 * people read their codes it stays near nothing whatever the traffic, and where
 * nobody does it counts the codes. (It is Page's CUSUM test for "fewer are
 * confirmed than should be".) `fresh` has each code as soon as it is sent;
 * `settled` has it, and its confirmation, once there was time to type it in.
 */
export type Tally = {
  atMs: number
  fresh: number
  settled: number
  /** Codes that there was time to confirm, and those that were; the last day's, fading. */
  sends: number
  verified: number
  /** Until when everything is refused, by which rule, and the how manieth time in a row. */
  heldUntilMs: number
  heldBy: FraudRule | null
  holds: number
}

/** What one node added since it last told the others. */
export type Delta = Omit<Tally, 'atMs'>

/** Counts of sends and confirmations fade by half in this time. */
export const HALF_LIFE_HOURS = 24
/** A hold is so long at first, twice as long each time that it comes back within a day. */
const FIRST_HOLD_MS = 30 * MINUTE_MS
const LONGEST_HOLD_MS = DAY_MS
const MOST_HOLDS = 16
/** Of what brought a hold about so much is left when it ends: a few more, and it is back. */
const LEFT_AFTER_HOLD = 0.8

export function emptyTally(atMs: number): Tally {
  return { atMs, fresh: 0, settled: 0, sends: 0, verified: 0, heldUntilMs: 0, heldBy: null, holds: 0 }
}

export function emptyDelta(): Delta {
  return { fresh: 0, settled: 0, sends: 0, verified: 0, heldUntilMs: 0, heldBy: null, holds: 0 }
}

/**
 * Moves a tally on to `nowMs`; `leak` is by the hour, and rests during a hold, so that
 * only confirmed codes lower what brought it about. `fold_tallies` in the store does the same.
 */
export function age(tally: Tally, nowMs: number, leak: number): Tally {
  const hours = (nowMs - tally.atMs) / HOUR_MS
  if (hours <= 0) return tally
  const kept = 0.5 ** (hours / HALF_LIFE_HOURS)
  const leaked = leak * Math.max(0, (nowMs - Math.max(tally.atMs, tally.heldUntilMs)) / HOUR_MS)
  tally.atMs = nowMs
  tally.fresh = Math.max(0, tally.fresh - leaked)
  tally.settled = Math.max(0, tally.settled - leaked)
  tally.sends *= kept
  tally.verified *= kept
  return tally
}

/** Adds to a tally that is of now. */
export function add(tally: Tally, delta: Partial<Delta>): void {
  tally.fresh = Math.max(0, tally.fresh + (delta.fresh ?? 0))
  tally.settled = Math.max(0, tally.settled + (delta.settled ?? 0))
  tally.sends = Math.max(0, tally.sends + (delta.sends ?? 0))
  tally.verified = Math.max(0, tally.verified + (delta.verified ?? 0))
  if ((delta.heldUntilMs ?? 0) > tally.heldUntilMs) {
    tally.heldUntilMs = delta.heldUntilMs!
    tally.heldBy = delta.heldBy ?? null
    tally.holds = delta.holds ?? 0
  }
}

/** The same for what is still to be told. */
export function gather(sum: Delta, delta: Partial<Delta>): void {
  sum.fresh += delta.fresh ?? 0
  sum.settled += delta.settled ?? 0
  sum.sends += delta.sends ?? 0
  sum.verified += delta.verified ?? 0
  if ((delta.heldUntilMs ?? 0) > sum.heldUntilMs) {
    sum.heldUntilMs = delta.heldUntilMs!
    sum.heldBy = delta.heldBy ?? null
    sum.holds = delta.holds ?? 0
  }
}

/** Codes that are confirmed in an hour as a rule: a mean that fades like what it is made of. */
export function usualPerHour(tally: Tally): number {
  return (tally.verified * Math.LN2) / HALF_LIFE_HOURS
}

/** What a rule that is broken at this moment adds: a hold, at whose end a few sends show whether it goes on. */
export function holdOf(tally: Tally, rule: FraudRule, limits: { pressure: number; sends: number }): Delta {
  const again = tally.holds > 0 && tally.atMs - tally.heldUntilMs < LONGEST_HOLD_MS
  const holds = again ? Math.min(tally.holds + 1, MOST_HOLDS) : 1
  const heldMs = Math.min(FIRST_HOLD_MS * 2 ** (holds - 1), LONGEST_HOLD_MS)
  const hold = { ...emptyDelta(), heldUntilMs: tally.atMs + heldMs, heldBy: rule, holds }
  if (rule === 'conversion') {
    const left = Math.min(1, (LEFT_AFTER_HOLD * limits.sends) / tally.sends)
    return { ...hold, sends: (left - 1) * tally.sends, verified: (left - 1) * tally.verified }
  }
  const left = LEFT_AFTER_HOLD * limits.pressure
  return { ...hold, fresh: Math.min(0, left - tally.fresh), settled: Math.min(0, left - tally.settled) }
}

/** The upper end of what the share of successes may be, by 95 of 100 (Wilson's score interval). */
export function highestShare(successes: number, trials: number): number {
  if (trials <= 0) return 1
  const z2 = 1.96 ** 2
  const share = Math.min(1, successes / trials)
  const spread = Math.sqrt(z2 * ((share * (1 - share)) / trials + z2 / (4 * trials * trials)))
  return (share + z2 / (2 * trials) + spread) / (1 + z2 / trials)
}

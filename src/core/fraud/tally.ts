import type { FraudRule } from '../../contract/fraud.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'

/**
 * The counts of one key: a range of numbers, a country, an end user's IP address,
 * a day's spending, or a whole account. All of them are as of `atMs`.
 *
 * A pressure rises by one with every code that is sent, falls by several with
 * every code that is confirmed, fades by the hour, and is never negative. Where
 * people confirm their codes it stays near 0 whatever the traffic; where
 * nobody does, it counts the codes. (It is Page's CUSUM test for "fewer codes are
 * confirmed than expected".) `fresh` counts each code as soon as it is sent;
 * `settled` counts a code and its confirmation once there was time to confirm it.
 */
export type Tally = {
  atMs: number
  fresh: number
  settled: number
  /** Codes that there was time to confirm, and how many of them were confirmed; both fade with HALF_LIFE_HOURS. */
  sends: number
  verified: number
  /** A hold: until when all sends are refused, by which rule, and how many holds there were in a row. */
  heldUntilMs: number
  heldBy: FraudRule | null
  holds: number
}

/** What one node has added since its last exchange with the others. */
export type Delta = Omit<Tally, 'atMs'>

/** `sends` and `verified` fade to half in this time. */
export const HALF_LIFE_HOURS = 24
/** The length of a first hold; doubled each time that a hold follows within a day. */
const FIRST_HOLD_MS = 30 * MINUTE_MS
const MAX_HOLD_MS = DAY_MS
const MAX_HOLDS = 16
/** Clocks of nodes differ by less. */
const CLOCKS_DIFFER_MS = DAY_MS
/** After a hold, the pressure is this share of its limit: a few more unconfirmed codes bring the hold back. */
const LEFT_AFTER_HOLD = 0.8

/** `atMs`: since the epoch. */
export function emptyTally(atMs: number): Tally {
  return { atMs, fresh: 0, settled: 0, sends: 0, verified: 0, heldUntilMs: 0, heldBy: null, holds: 0 }
}

export function emptyDelta(): Delta {
  return { fresh: 0, settled: 0, sends: 0, verified: 0, heldUntilMs: 0, heldBy: null, holds: 0 }
}

/**
 * Ages a tally to `nowMs`. `leak` is per hour, and does not apply during a hold, so that
 * only confirmed codes lower the pressure then. `fold_tallies` in the database does the same.
 */
export function ageTally(tally: Tally, nowMs: number, leak: number): Tally {
  distrustFuture(tally, nowMs)
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

/** A clock that was far ahead must not keep counts from fading, nor a hold from ending, until its time has come. */
function distrustFuture(tally: Tally, nowMs: number): void {
  if (tally.atMs > nowMs + CLOCKS_DIFFER_MS) tally.atMs = nowMs
  if (tally.heldUntilMs > nowMs + MAX_HOLD_MS + CLOCKS_DIFFER_MS) tally.heldUntilMs = nowMs
}

/** Adds to a tally that was aged to now. */
export function addDelta(tally: Tally, delta: Partial<Delta>): void {
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

/** Adds to the changes that are not exchanged yet. */
export function mergeDelta(sum: Delta, delta: Partial<Delta>): void {
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

/** The usual number of codes confirmed in an hour: a fading mean. */
export function usualPerHour(tally: Tally): number {
  return (tally.verified * Math.LN2) / HALF_LIFE_HOURS
}

/** The hold that a broken rule adds. At its end, the pressure is just below the limit (LEFT_AFTER_HOLD). */
export function holdOf(tally: Tally, rule: FraudRule, limits: { pressure: number; sends: number }): Delta {
  const again = tally.holds > 0 && tally.atMs - tally.heldUntilMs < MAX_HOLD_MS
  const holds = again ? Math.min(tally.holds + 1, MAX_HOLDS) : 1
  const heldMs = Math.min(FIRST_HOLD_MS * 2 ** (holds - 1), MAX_HOLD_MS)
  const hold = { ...emptyDelta(), heldUntilMs: tally.atMs + heldMs, heldBy: rule, holds }
  if (rule === 'conversion') {
    const left = Math.min(1, (LEFT_AFTER_HOLD * limits.sends) / tally.sends)
    return { ...hold, sends: (left - 1) * tally.sends, verified: (left - 1) * tally.verified }
  }
  const left = LEFT_AFTER_HOLD * limits.pressure
  return { ...hold, fresh: Math.min(0, left - tally.fresh), settled: Math.min(0, left - tally.settled) }
}

/** The upper bound of the share of successes, at 95 % confidence (Wilson's score interval). */
export function highestShare(successes: number, trials: number): number {
  if (trials <= 0) return 1
  const z2 = 1.96 ** 2
  const share = Math.min(1, successes / trials)
  const spread = Math.sqrt(z2 * ((share * (1 - share)) / trials + z2 / (4 * trials * trials)))
  return (share + z2 / (2 * trials) + spread) / (1 + z2 / trials)
}

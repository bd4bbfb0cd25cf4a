import { invalid, Problem } from '../../contract/errors.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'

/** 365 days: far enough for a birthday, near enough to be kept. */
const FURTHEST_AHEAD_MS = 365 * DAY_MS

/**
 * The time of `options.scheduleAt` in ms since the epoch, or null when there is none. Throws
 * VALIDATION_ERROR for one that cannot be, then FORBIDDEN where the plan does not allow any.
 */
export function readSchedule(
  text: string | undefined,
  plan: { name: string; allowsScheduling: boolean },
  nowMs: number,
): number | null {
  if (text === undefined) return null
  const atMs = parseIsoTime(text)
  if (atMs === null) {
    throw invalid('options.scheduleAt', 'must be an ISO 8601 time with a zone, as in 2030-01-31T09:00:00Z')
  }
  if (atMs <= nowMs) throw invalid('options.scheduleAt', 'must be in the future')
  if (atMs > nowMs + FURTHEST_AHEAD_MS) throw invalid('options.scheduleAt', 'must be at most one year ahead')
  // Behind what is wrong with the body itself, whatever the plan.
  if (!plan.allowsScheduling) {
    throw new Problem('FORBIDDEN', `The plan "${plan.name}" does not allow scheduled messages.`)
  }
  return atMs
}

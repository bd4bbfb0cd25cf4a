import { invalid, Problem } from '../../contract/errors.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'

/** The longest time ahead that may be scheduled, in ms. */
const FURTHEST_AHEAD_MS = 365 * DAY_MS

/**
 * The time of `options.scheduleAt` in ms since the epoch; null if there is none. Throws
 * VALIDATION_ERROR for an invalid time, then FORBIDDEN if the plan does not allow scheduling.
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
  // After the faults of the body itself, which do not depend on the plan.
  if (!plan.allowsScheduling) {
    const message = `The plan "${plan.name}" does not allow scheduled messages.`
    throw new Problem('FORBIDDEN', message, { details: [{ path: 'options.scheduleAt', message }] })
  }
  return atMs
}

import { nowMs } from '../../api/server-clock.ts'

const DAY_MS = 86_400_000

export const SPANS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
]
const USUAL = '30'

/** The last days, in UTC as the API counts them, today included. */
export function spanOf(days: string = USUAL): { days: string; from: string; to: string } {
  const known = SPANS.some(({ value }) => value === days) ? days : USUAL
  const todayMs = nowMs()
  return { days: known, from: dayOf(todayMs - (Number(known) - 1) * DAY_MS), to: dayOf(todayMs) }
}

/** All days from `from` to `to`, inclusive. */
export function daysOf({ from, to }: { from: string; to: string }): string[] {
  const days: string[] = []
  for (let atMs = Date.parse(from); atMs <= Date.parse(to); atMs += DAY_MS) days.push(dayOf(atMs))
  return days
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

import { nowMs } from '../../api/server-clock.ts'

const DAY_MS = 86_400_000

export const PERIODS = [
  { id: '7d', label: '7 days', days: 7 },
  { id: '30d', label: '30 days', days: 30 },
  { id: '90d', label: '90 days', days: 90 },
] as const
export type Period = (typeof PERIODS)[number]
export const USUAL_PERIOD = '30d'

export function periodOf(id: string | undefined): Period {
  return PERIODS.find(period => period.id === (id ?? USUAL_PERIOD)) ?? PERIODS[1]
}

/** The last `days` days, today included, in UTC as the API counts them. */
export function daysBack(days: number): { from: string; to: string } {
  const endMs = (Math.floor(nowMs() / DAY_MS) + 1) * DAY_MS
  return { from: new Date(endMs - days * DAY_MS).toISOString(), to: new Date(endMs).toISOString() }
}

/** The start of each day of a period, as ISO 8601. */
export function eachDay({ from, to }: { from: string; to: string }): string[] {
  const firstMs = new Date(from).getTime()
  const count = Math.round((new Date(to).getTime() - firstMs) / DAY_MS)
  return Array.from({ length: count }, (_, day) => new Date(firstMs + day * DAY_MS).toISOString())
}

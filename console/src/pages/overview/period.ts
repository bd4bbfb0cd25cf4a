import { perRequest } from '../../api/per-request.ts'
import { nowMs } from '../../api/server-clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export const PERIODS = [
  { id: '24h', label: '24 hours', lengthMs: 24 * HOUR_MS, interval: 'hour' },
  { id: '7d', label: '7 days', lengthMs: 168 * HOUR_MS, interval: 'hour' },
  { id: '30d', label: '30 days', lengthMs: 720 * HOUR_MS, interval: 'day' },
] as const
export type Period = (typeof PERIODS)[number]

export function periodOf(id: string | undefined): Period {
  return PERIODS.find(period => period.id === id) ?? PERIODS[0]
}

/** The period until now, at the time of each request; to the end of the minute, since the server's clock may be ahead. */
export function spanOf({ id, lengthMs, interval }: Period) {
  const endMs = () => Math.ceil(nowMs() / MINUTE_MS) * MINUTE_MS
  return {
    from: perRequest(id, () => new Date(endMs() - lengthMs).toISOString()),
    to: perRequest(id, () => new Date(endMs()).toISOString()),
    interval,
  }
}

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

/** In whole minutes, so that the query, and with it the cache key, stays the same for a while. */
export function spanOf({ lengthMs, interval }: Period) {
  const toMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  return { from: new Date(toMs - lengthMs).toISOString(), to: new Date(toMs).toISOString(), interval }
}

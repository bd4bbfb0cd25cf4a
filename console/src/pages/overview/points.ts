import type { MessageStats } from '../../../../sdk/index.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * The counts of an hour or day. It is identified by its time, not its label: when clocks go back, two hours
 * have the same label.
 */
export type Point = { at: string; Sent: number; Delivered: number; Failed: number; Unknown: number }

/** All steps of the period, including empty ones, so that the sums are those of the figures above. */
export function toPoints({ from, to, interval, rows }: MessageStats): Point[] {
  const stepMs = interval === 'hour' ? HOUR_MS : DAY_MS
  const byTime = new Map(rows.map(row => [Date.parse(row.at), row]))
  const firstMs = Math.floor(Date.parse(from) / stepMs) * stepMs
  const count = Math.max(0, Math.ceil((Date.parse(to) - firstMs) / stepMs))
  return Array.from({ length: count }, (_, step) => {
    const atMs = firstMs + step * stepMs
    const row = byTime.get(atMs)
    return {
      at: new Date(atMs).toISOString(),
      Sent: row?.sent ?? 0,
      Delivered: row?.delivered ?? 0,
      Failed: row ? row.failed + row.undelivered : 0,
      Unknown: row?.unknown ?? 0,
    }
  })
}

/**
 * The label of a point: hours in the viewer's time zone, days in UTC, as the API counts them. `zone` and
 * `locale` default to the browser's.
 */
export function labelOf(
  { from, to, interval }: Pick<MessageStats, 'from' | 'to' | 'interval'>,
  locale?: string,
  zone?: string,
): (at: string) => string {
  const hours = { hour: '2-digit', minute: '2-digit' } as const
  const day = { day: 'numeric', month: 'short' } as const
  const long = Date.parse(to) - Date.parse(from) > 2 * DAY_MS
  const format = new Intl.DateTimeFormat(
    locale,
    interval === 'day'
      ? { ...day, timeZone: 'UTC' }
      : { ...(long && day), ...hours, ...(zone !== undefined && { timeZone: zone }) },
  )
  return at => format.format(new Date(at))
}

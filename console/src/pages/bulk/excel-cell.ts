/** Excel counts days from here, and keeps a time without a date as a part of them. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30)
/** The first date that Excel and the calendar agree on: what is before it is a number of hours. */
const FIRST_DATE_MS = Date.UTC(1900, 2, 1)
/** Day zero of workbooks from old Macs. */
const MAC_DAY_ZERO = '1904-01-01'

/** Excel shows no more digits of a fraction: what is beyond them is the rest of its computation. */
const MAX_DIGITS = 15

/** The text of a cell. Dates and times are in the order of ISO 8601, each without the part that it lacks. */
export function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  if (cell instanceof Date) return textOfTime(cell.getTime())
  if (typeof cell === 'number' && !Number.isInteger(cell)) return String(Number(cell.toPrecision(MAX_DIGITS)))
  return String(cell)
}

function textOfTime(exactMs: number): string {
  // Most times are no exact fraction of a day: 15:30 is read as 15:29:59.999.
  const ms = Math.round(exactMs / 1_000) * 1_000
  if (ms >= DAY_ZERO_MS && ms < FIRST_DATE_MS) return textOfHours((ms - DAY_ZERO_MS) / 1_000)
  const [date, time] = new Date(ms).toISOString().slice(0, 19).split('T') as [string, string]
  if (time === '00:00:00') return date
  const shown = time.replace(/:00$/, '')
  return date === MAC_DAY_ZERO ? shown : `${date} ${shown}`
}

function textOfHours(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  if (seconds % 60 > 0) parts.push(seconds % 60)
  return parts.map(part => String(part).padStart(2, '0')).join(':')
}

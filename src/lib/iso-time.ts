/** The RFC 3339 profile of ISO 8601; the offset from UTC is required, in any of ISO's forms. */
const TIME =
  /^(?<day>\d{4}-\d{2}-\d{2})(?<time>T(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:Z|(?<hours>[+-]\d{2})(?::?(?<minutes>\d{2}))?)$/i

/** The years 1 to 9999 in UTC: what a database can store and four digits can express. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** Milliseconds since the epoch; null if the text is not such a time, or its day does not exist. */
export function parseIsoTime(text: string): number | null {
  const parts = TIME.exec(text)?.groups
  if (!parts) return null
  const { day = '', time, hours = '+00', minutes = '00' } = parts
  // Written out: Date.parse refuses an offset of hours alone.
  const atMs = Date.parse(`${day}${time}${hours}:${minutes}`)
  if (!(atMs >= EARLIEST_MS && atMs <= LATEST_MS)) return null
  // Date.parse reads 30 February as 2 March.
  const midnight = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day) ? atMs : null
}

/** RFC 3339, as ISO 8601 is written between programs; the zone is required. */
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i

/** Milliseconds since the epoch, or null where the text is no time or its day does not exist. */
export function parseIsoTime(text: string): number | null {
  const [, day] = TIME.exec(text) ?? []
  if (day === undefined) return null
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return null
  // Date.parse reads 30 February as 2 March.
  const midnight = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day) ? atMs : null
}

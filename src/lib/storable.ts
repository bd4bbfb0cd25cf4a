/** Makes a text storable in PostgreSQL: without NULs and lone surrogates. At most `longest` UTF-16 units. */
export function toStorableText(text: string, longest = text.length): string {
  return text.replaceAll('\0', '').slice(0, longest).toWellFormed()
}

/** The end of the year 9999: later times do not have four-digit years. */
const LATEST_MS = 253_402_300_799_999

/**
 * A time from an external system, in ms since the epoch; null if it cannot be right, for example since the
 * system counts in another unit. So a wrong time does not prevent the rest of the data from being stored.
 */
export function toStorableTime(atMs: number | null): number | null {
  return atMs !== null && atMs >= 0 && atMs <= LATEST_MS ? atMs : null
}

/** A text as the store can hold it: no text there has a NUL, nor half of a surrogate pair. At most `longest` UTF-16 units. */
export function storable(text: string, longest = text.length): string {
  return text.replaceAll('\0', '').slice(0, longest).toWellFormed()
}

/** The end of the year 9999: beyond it no time is written with four digits. */
const LATEST_MS = 253_402_300_799_999

/**
 * A time that somebody else told, in ms since the epoch, as far as it can be one: not where they count in
 * another unit than they say. What they told beside it is not to be lost for that.
 */
export function storableTime(atMs: number | null): number | null {
  return atMs !== null && atMs >= 0 && atMs <= LATEST_MS ? atMs : null
}

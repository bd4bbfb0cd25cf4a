/**
 * A text with numbered places, parsed once: literal text and, as numbers, the
 * places between. `Dear {{1}}!` is `['Dear ', 1, '!']`. Plain JSON, so that it is
 * stored as it stands.
 */
export type Segments = readonly (string | number)[]

/** `at` is where it stands in the text, in UTF-16 units. */
export type PlaceholderFault = { at: number; message: string }

/** As many as a send may give values. */
export const MAX_PLACES = 100

const PLACE = /\{\{([1-9][0-9]{0,2})\}\}/g
/** Braces that open a place without being one, or that stand closer to one than they should. */
const STRAY = /\{\{(?![1-9][0-9]{0,2}\}\}(?!\}))/
const SEEN_LENGTH = 20

/** Finds the places of a text; a fault where braces open that are no numbered place. */
export function parsePlaceholders(text: string): Segments | PlaceholderFault {
  const stray = text.search(STRAY)
  if (stray >= 0) {
    const seen = text.slice(stray, stray + SEEN_LENGTH)
    return { at: stray, message: `has "${seen}", which is no placeholder: they read {{1}}, {{2}}, …` }
  }
  const segments: (string | number)[] = []
  let from = 0
  for (const match of text.matchAll(PLACE)) {
    const number = Number(match[1])
    if (number > MAX_PLACES) return { at: match.index, message: `has more than ${MAX_PLACES} placeholders` }
    if (match.index > from) segments.push(text.slice(from, match.index))
    segments.push(number)
    from = match.index + match[0].length
  }
  if (from < text.length) segments.push(text.slice(from))
  return segments
}

export function isFault(parsed: Segments | PlaceholderFault): parsed is PlaceholderFault {
  return !Array.isArray(parsed)
}

/** The numbers that occur, in order, each once. */
export function placesOf(...texts: readonly Segments[]): number[] {
  const numbers = texts.flat().filter(segment => typeof segment === 'number')
  return [...new Set(numbers)].sort((a, b) => a - b)
}

/** The first number missing from a run that begins at 1; null where there is no gap. */
export function firstGap(places: readonly number[]): number | null {
  const at = places.findIndex((place, index) => place !== index + 1)
  return at < 0 ? null : at + 1
}

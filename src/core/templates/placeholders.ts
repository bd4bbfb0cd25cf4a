/**
 * A text with numbered placeholders, parsed once: literal texts, and the placeholders as
 * numbers. `Dear {{1}}!` is `['Dear ', 1, '!']`. Plain JSON, which can be
 * stored as it is.
 */
export type Segments = readonly (string | number)[]

/** `at` is the position in the text, in UTF-16 units. */
export type PlaceholderFault = { at: number; message: string }

/** The most values that a send may have. */
export const MAX_PLACEHOLDERS = 100

const PLACEHOLDER = /\{\{([1-9][0-9]{0,2})\}\}/g
/** Double braces that do not begin a placeholder, or that are followed by too many closing braces. */
const STRAY_BRACES = /\{\{(?![1-9][0-9]{0,2}\}\}(?!\}))/
const EXCERPT_LENGTH = 20

/** Parses a text; returns a fault for double braces that are not a numbered placeholder. */
export function parsePlaceholders(text: string): Segments | PlaceholderFault {
  const stray = text.search(STRAY_BRACES)
  if (stray >= 0) {
    // The cut may leave half of a character.
    const seen = text.slice(stray, stray + EXCERPT_LENGTH).toWellFormed()
    return {
      at: stray,
      message: `has "${seen}", which is not a placeholder: placeholders are {{1}}, {{2}}, …`,
    }
  }
  const segments: (string | number)[] = []
  let from = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    const number = Number(match[1])
    if (number > MAX_PLACEHOLDERS)
      return { at: match.index, message: `has more than ${MAX_PLACEHOLDERS} placeholders` }
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
export function placeholderNumbers(...texts: readonly Segments[]): number[] {
  const numbers = texts.flat().filter(segment => typeof segment === 'number')
  return [...new Set(numbers)].sort((a, b) => a - b)
}

/** The first number that is missing in a sequence from 1 on; null if there is no gap. */
export function firstGap(places: readonly number[]): number | null {
  const at = places.findIndex((place, index) => place !== index + 1)
  return at < 0 ? null : at + 1
}

/** Digits, and at most one separator: never one between thousands. */
const PLAIN = /^-?\d+(?:[.,]\d+)?$/
/** Twelve hundred to some, one and a fifth to others. */
const EITHER = /^-?\d{1,3},\d{3}$/

/**
 * An amount as somebody writes or pastes it, with a point or with the comma of their country. What can
 * be read in two ways, or not at all, stays as it stands, for the API to refuse: of money nothing is guessed.
 */
export function amountOf(written: string): number {
  const text = written.trim()
  const isPlain = PLAIN.test(text) && !EITHER.test(text)
  // The API says at its field that a text is no number.
  return isPlain ? Number(text.replace(',', '.')) : (written as unknown as number)
}

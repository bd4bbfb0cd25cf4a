/** Digits with at most one decimal separator, without thousands separators. */
const PLAIN = /^-?\d+(?:[.,]\d+)?$/
/** Ambiguous: the comma may separate thousands or decimals. */
const EITHER = /^-?\d{1,3},\d{3}$/

/**
 * Parses an amount with a decimal point or comma. Ambiguous or invalid text is returned unchanged, so that
 * the API refuses it: amounts are never guessed.
 */
export function amountOf(written: string): number {
  const text = written.trim()
  const isPlain = PLAIN.test(text) && !EITHER.test(text)
  // The API reports at the field that a text is not a number.
  return isPlain ? Number(text.replace(',', '.')) : (written as unknown as number)
}

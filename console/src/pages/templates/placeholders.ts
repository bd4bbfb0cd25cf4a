const PLACEHOLDER = /\{\{(\d{1,3})\}\}/g

/** A part of a text: text, or the number of a placeholder. */
export type Piece = string | number

/** `Order {{1}} is {{2}}` is `['Order ', 1, ' is ', 2]`. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (match.index > from) pieces.push(text.slice(from, match.index))
    pieces.push(Number(match[1]))
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

/** The highest placeholder number in these texts: the number of values that a send needs. */
export function highestPlaceholder(...texts: readonly string[]): number {
  const places = texts.flatMap(piecesOf).filter(piece => typeof piece === 'number')
  return Math.max(0, ...places)
}

/** Fills in the values; a placeholder without a value stays. */
export function fillPlaceholders(text: string, values: readonly string[]): string {
  return piecesOf(text)
    .map(piece => (typeof piece === 'number' ? values[piece - 1] || `{{${piece}}}` : piece))
    .join('')
}

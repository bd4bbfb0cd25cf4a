import { quotes } from '../http/quotes.ts'

/** Stands for a code that is not kept. */
const WITHHELD = 'withheld'
/** Shorter texts are found in many a code that does not quote them. */
const SHORTEST_QUOTE = 4
const MAX_CODE_LENGTH = 100

/** A gateway's error code, shortened; withheld where it quotes one of these texts. */
export function codeWithout(texts: readonly string[], code: string): string {
  const quoted = texts.some(each => each.length >= SHORTEST_QUOTE && quotes(code, each))
  return quoted ? WITHHELD : code.slice(0, MAX_CODE_LENGTH)
}

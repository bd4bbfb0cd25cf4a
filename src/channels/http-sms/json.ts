/** A text, or a number, of JSON that is known to be whole. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** From 2^53 on, of 16 digits, a double is no longer every whole number. */
const LONG = /^-?\d{16,}$/

/**
 * What a gateway says in JSON; undefined for what is none. Whole numbers too long for a double stay as their
 * digits, as texts: ids of 64 bits that differ in their last digits alone would else be one and the same.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return /\d{16}/.test(text) ? JSON.parse(text.replace(TOKENS, quotedWhereLong)) : value
  } catch {
    return undefined
  }
}

function quotedWhereLong(token: string): string {
  return LONG.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token
}

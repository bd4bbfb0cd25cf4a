import type { Random } from './random.ts'

/**
 * The largest multiple of ten in a byte's range: bytes from here on would make some digits more likely than
 * others.
 */
const FAIR_BYTES = 250

/** A code of `length` decimal digits, each equally likely; it may begin with zeros. */
export function generateCode(random: Random, length: number): string {
  let code = ''
  while (code.length < length) {
    for (const byte of random.bytes(length * 2)) {
      if (byte < FAIR_BYTES && code.length < length) code += byte % 10
    }
  }
  return code
}

/** White space, dashes and invisible characters, which people and keyboards put between digits. */
const BETWEEN = /[\s\p{Pd}\p{Cf}]+/gu
const DIGITS = /^\p{Nd}+$/u

/**
 * The code that a text contains, in ASCII digits. Digits of all scripts are accepted; spaces and hyphens are
 * ignored. Null if there is anything else.
 */
export function normalizeCode(text: string): string | null {
  const compact = text.replace(BETWEEN, '')
  if (!DIGITS.test(compact)) return null
  let code = ''
  for (const digit of compact) code += valueOfDigit(digit.codePointAt(0)!)
  return code
}

/**
 * The value of a decimal digit (Unicode's Nd). Unicode guarantees that they come in runs of ten, zero first;
 * where runs are adjacent, as the mathematical digits are, the total length is a multiple of ten.
 */
function valueOfDigit(codePoint: number): number {
  if (codePoint < 0x80) return codePoint - 0x30
  let first = codePoint
  while (DIGITS.test(String.fromCodePoint(first - 1))) first--
  return (codePoint - first) % 10
}

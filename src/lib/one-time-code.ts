import type { Random } from './random.ts'

/** The largest multiple of ten that a byte holds: above it a digit would be more likely than others. */
const FAIR_BYTES = 250

/** A code of that many decimal digits, each as likely as any other; zeros may lead. */
export function drawCode(random: Random, length: number): string {
  let code = ''
  while (code.length < length) {
    for (const byte of random.bytes(length * 2)) {
      if (byte < FAIR_BYTES && code.length < length) code += byte % 10
    }
  }
  return code
}

/** What people and keyboards put between digits, and what they cannot see. */
const BETWEEN = /[\s\p{Pd}\p{Cf}]+/gu
const DIGITS = /^\p{Nd}+$/u

/**
 * The code that a text spells in ASCII digits: those of any script count, spaces
 * and hyphens do not. Null for anything else.
 */
export function readCode(text: string): string | null {
  const compact = text.replace(BETWEEN, '')
  if (!DIGITS.test(compact)) return null
  let code = ''
  for (const digit of compact) code += valueOfDigit(digit.codePointAt(0)!)
  return code
}

/**
 * The value of a decimal digit (Unicode's Nd). Unicode promises that they come in
 * runs of ten, zero first; where runs touch, as the mathematical ones do, their
 * length is a multiple of ten.
 */
function valueOfDigit(codePoint: number): number {
  if (codePoint < 0x80) return codePoint - 0x30
  let first = codePoint
  while (DIGITS.test(String.fromCodePoint(first - 1))) first--
  return (codePoint - first) % 10
}

import { textOf } from '../http/inbound.ts'

/** A string or a number in valid JSON. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** Integers of 16 digits and more: above 2^53 a double cannot represent all of them. */
const LONG = /^-?\d{16,}$/

/**
 * Parses a gateway's JSON; undefined where it is invalid. Integers too long for a double become strings:
 * otherwise 64-bit ids that differ only in their last digits would become equal.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = textOf(bytes)
  try {
    const value: unknown = JSON.parse(text)
    return /\d{16}/.test(text) ? JSON.parse(text.replace(TOKENS, quoteLongInteger)) : value
  } catch {
    return undefined
  }
}

function quoteLongInteger(token: string): string {
  return LONG.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token
}

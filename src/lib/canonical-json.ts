import { hash } from 'node:crypto'
import { canonicalNumber, isExactNumber } from './exact-numbers.ts'

/** Deeper values are refused. Request bodies have a far lower limit before they get here. */
const MAX_DEPTH = 128

/**
 * The canonical form of a JSON value by RFC 8785 (JCS): keys sorted by UTF-16 code units, no white space,
 * numbers and strings as ECMAScript writes them, save that numbers that a double cannot hold have all their
 * digits. A member whose value is `undefined` is left out.
 *
 * Throws a RangeError for values nested deeper than `MAX_DEPTH`, and a TypeError for values that JSON does
 * not have (NaN, Infinity, functions, bigint).
 */
export function canonicalize(value: unknown): string {
  return write(value, 0)
}

/** SHA-256 of the canonical form: 32 bytes that are equal exactly when the values are. */
export function canonicalHash(value: unknown): Buffer {
  // Hashing to hex and decoding it takes half as long as asking `hash` for a buffer.
  return Buffer.from(hash('sha256', canonicalize(value), 'hex'), 'hex')
}

function write(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return writeNumber(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null) return 'null'
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value}`)
  if (depth >= MAX_DEPTH) throw new RangeError(`JSON is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return writeArray(value, depth)
  return isExactNumber(value) ? canonicalNumber(value.rawJSON) : writeObject(value, depth)
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`)
  // Not `String`: it caches many of the numbers that it wrote, and the numbers of a million rows do not come again.
  return JSON.stringify(value)
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '['
  for (let at = 0; at < items.length; at++) {
    if (at > 0) text += ','
    text += write(items[at], depth + 1)
  }
  return `${text}]`
}

function writeObject(value: object, depth: number): string {
  let text = '{'
  for (const key of sort(Object.keys(value))) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    if (text.length > 1) text += ','
    text += spell(key) + write(member, depth + 1)
  }
  return `${text}}`
}

/** Insertion sort: with few keys, mostly in order already, it takes a fraction of the time of `Array.sort`. */
function sort(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort()
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at]!
    let place = at
    for (; place > 0 && keys[place - 1]! > key; place--) keys[place] = keys[place - 1]!
    keys[place] = key
  }
  return keys
}

/**
 * Written keys, since the same keys come again and again. Only the first ones are kept: a cache of all keys
 * would need eviction.
 */
const spelled = new Map<string, string>()
const MAX_SPELLED = 1_000
const MAX_SPELLED_LENGTH = 64

function spell(key: string): string {
  const known = spelled.get(key)
  if (known !== undefined) return known
  const text = `${JSON.stringify(key)}:`
  if (spelled.size < MAX_SPELLED && key.length <= MAX_SPELLED_LENGTH) spelled.set(key, text)
  return text
}

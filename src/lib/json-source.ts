import { isUtf8 } from 'node:buffer'
import { KEPT_DIGITS, withExactFields } from './exact-numbers.ts'
import { joinPath } from './json-path.ts'

/** An error in a body; `path` is empty if the whole body is wrong. */
export type JsonFault = { path: string; message: string }

/** A refused text has a `value` if it is well-formed, and only something in it is refused: then `path` is not empty. */
export type JsonResult =
  | { ok: true; value: unknown; hasNulls: boolean }
  | ({ ok: false; value?: unknown } & JsonFault)

/** Most values of one body: in memory, each takes up to a hundred times the bytes of its text. */
const MAX_VALUES = 200_000

/**
 * Parses one JSON text strictly. Beyond what `JSON.parse` refuses, it refuses what different parsers read
 * differently, or what no database can store: bytes that are not UTF-8, repeated keys, `__proto__` and
 * `constructor.prototype`, NUL, lone surrogates, numbers too large for a double, nesting deeper than
 * `maxDepth`, and more than MAX_VALUES values. Numbers in the users' own JSON keep all of their digits.
 *
 * Linear in the size of the body. Errors are returned, not thrown; of the body they contain only keys.
 */
export function parseJson(bytes: Buffer, options: { maxDepth?: number } = {}): JsonResult {
  if (!isUtf8(bytes)) return refuse([], 'must be encoded in UTF-8')
  // RFC 8259 lets a reader ignore a byte order mark.
  const text = bytes.toString('utf8', startsWithMark(bytes) ? 3 : 0)
  const shape = checkStructure(text, options.maxDepth ?? 32)
  if ('fault' in shape) return refuse([], shape.fault)

  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refuse([], malformed(error))
  }
  const survey: Inspection = { keys: 0, hasNulls: false, path: [], fault: '' }
  // `JSON.parse` refuses raw NULs, and raw surrogates are not UTF-8: only an escape can bring them in.
  inspect(value, survey, text.includes('\\u'))
  if (survey.fault !== '') return { ...refuse(survey.path.reverse(), survey.fault), value }
  // Of two equal keys the object keeps one: then it has fewer keys than the text.
  if (survey.keys !== shape.keys) {
    return { ...refuse(findRepeatedKey(text), 'must be given once only'), value }
  }
  if (shape.hasLongNumbers) value = withExactFields(value, text)
  return { ok: true, value, hasNulls: survey.hasNulls }
}

function refuse(path: readonly (string | number)[], message: string): { ok: false } & JsonFault {
  return { ok: false, path: joinPath(path), message }
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39

type Structure = {
  keys: number
  /** Whether a number may have more digits than a double keeps, also one that is an integer then: 1.00000000000000000001 is 1. */
  hasLongNumbers: boolean
}

/**
 * Counts the keys in the text, skipping strings; stops if it is nested too deeply or has too many values. The
 * text need not be valid JSON.
 */
function checkStructure(text: string, maxDepth: number): Structure | { fault: string } {
  let keys = 0
  let longest = 0
  let values = 1
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(text, at)
    else if (code === COLON) keys++
    else if (code === COMMA) {
      if (++values > MAX_VALUES) return { fault: `must not hold more than ${MAX_VALUES} values` }
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      values++
      if (++depth > maxDepth) return { fault: `must not be nested deeper than ${maxDepth} levels` }
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
    else if (code >= ZERO && code <= NINE) {
      const end = endOfDigits(text, at)
      longest = Math.max(longest, end - at)
      at = end - 1
    }
  }
  return { keys, hasLongNumbers: longest > KEPT_DIGITS }
}

/** Index of the first character after `at` that is neither a digit nor a point. */
function endOfDigits(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(++at)
    const isPart = code === POINT || (code >= ZERO && code <= NINE)
    if (!isPart) return at
  }
}

/** Index of the quote that closes the string opened at `open`; the length of the text if there is none. */
function closingQuote(text: string, open: number): number {
  let at = open
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
}

/**
 * An error message with the position at which the parser stopped, without the excerpt of the text that the
 * parser's own message quotes.
 */
function malformed(error: unknown): string {
  const position = /at position (\d+)/.exec((error as Error).message)?.[1]
  return position === undefined
    ? 'must be complete, well-formed JSON'
    : `must be well-formed JSON; the fault is at character ${position}`
}

type Inspection = {
  keys: number
  hasNulls: boolean
  /** Innermost step first: each caller adds its own step after an error. */
  path: (string | number)[]
  fault: string
}

/** Looks at every value once, recursively: the depth is bounded. Stops at the first error; returns false then. */
function inspect(value: unknown, survey: Inspection, checkText: boolean): boolean {
  if (typeof value === 'string') return !checkText || inspectText(value, survey)
  if (typeof value === 'number') return Number.isFinite(value) || fault(survey, 'is too large a number')
  if (value === null) {
    survey.hasNulls = true
    return true
  }
  if (typeof value !== 'object') return true
  return Array.isArray(value)
    ? inspectArray(value, survey, checkText)
    : inspectObject(value as Record<string, unknown>, survey, checkText)
}

function inspectText(text: string, survey: Inspection): boolean {
  if (text.includes('\0')) return fault(survey, 'must not contain NUL characters')
  return text.isWellFormed() || fault(survey, 'must not contain lone surrogates')
}

function inspectArray(items: readonly unknown[], survey: Inspection, checkText: boolean): boolean {
  for (let at = 0; at < items.length; at++) {
    if (!inspect(items[at], survey, checkText)) return under(at, survey)
  }
  return true
}

function inspectObject(members: Record<string, unknown>, survey: Inspection, checkText: boolean): boolean {
  // JSON.parse makes plain objects, where even `__proto__` is an own property.
  for (const key in members) {
    if (!Object.hasOwn(members, key)) continue
    survey.keys++
    const fits = inspectKey(key, members, survey, checkText) && inspect(members[key], survey, checkText)
    if (!fits) return under(key, survey)
  }
  return true
}

function inspectKey(
  key: string,
  members: Record<string, unknown>,
  survey: Inspection,
  checkText: boolean,
): boolean {
  if (key === '__proto__') return fault(survey, 'is not allowed as a key')
  if (key === 'constructor' && hasPrototype(members[key])) {
    return fault(survey, 'must not hold a prototype')
  }
  return !checkText || inspectText(key, survey)
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function fault(survey: Inspection, message: string): false {
  survey.fault = message
  return false
}

function under(step: string | number, survey: Inspection): false {
  survey.path.push(step)
  return false
}

type Level = { keys: Set<string> | null; step: string | number }

/** The path of the first repeated key. `text` is valid JSON. */
function findRepeatedKey(text: string): (string | number)[] {
  const levels: Level[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const level = levels.at(-1)
    if (code === OPEN_OBJECT) levels.push({ keys: new Set(), step: '' })
    else if (code === OPEN_ARRAY) levels.push({ keys: null, step: 0 })
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) levels.pop()
    else if (code === COMMA && typeof level?.step === 'number') level.step++
    else if (code === QUOTE) {
      const end = closingQuote(text, at)
      if (level?.keys && isKey(text, end)) {
        level.step = JSON.parse(text.slice(at, end + 1)) as string
        if (level.keys.has(level.step)) break
        level.keys.add(level.step)
      }
      at = end
    }
  }
  return levels.map(level => level.step)
}

/** A string is a key if a colon follows, after white space only. */
function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === COLON
}

import { toIso } from '../lib/clock.ts'

/**
 * PostgreSQL's array literals. A batch travels as parallel arrays; the driver's
 * own encoder takes several times longer on the hot path.
 */

/** Values that need no quotes: uuids, numbers, booleans, and nulls. */
export function bareArray(values: readonly (string | number | boolean | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value === null || value === undefined ? 'NULL' : value
  }
  return `${text}}`
}

/** Any text, quoted and escaped. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value === null || value === undefined ? 'NULL' : quoted(value)
  }
  return `${text}}`
}

/** Bytes in bytea's hex form; the backslash is doubled by the array's own quoting. */
export function bytesArray(values: readonly (Buffer | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value ? `"\\\\x${value.toString('hex')}"` : 'NULL'
  }
  return `${text}}`
}

/** Milliseconds since the epoch as timestamps. */
export function timeArray(values: readonly (number | null)[]): string {
  let text = '{'
  let lastMs: number | null = null
  let lastText = 'NULL'
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? null
    if (at > 0) text += ','
    if (value !== lastMs) {
      lastMs = value
      lastText = value === null ? 'NULL' : `"${toIso(value)}"`
    }
    text += lastText
  }
  return `${text}}`
}

/** What JSON writes as an array literal does: quotes and backslashes escaped, all else as it is. */
const AS_JSON = /^[ -\ud7ff\ue000-\uffff]*$/

function quoted(value: string): string {
  // JSON is half the time: its strings are what most texts here consist of.
  return AS_JSON.test(value) ? JSON.stringify(value) : `"${value.replace(/["\\]/g, '\\$&')}"`
}

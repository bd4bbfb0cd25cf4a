import { toIso } from '../lib/clock.ts'

/**
 * PostgreSQL's array literals. Batches are passed as parallel arrays; the driver's encoder takes several
 * times longer.
 */

/** An array of values that need no quotes: uuids, numbers, booleans and nulls. */
export function bareArray(values: readonly (string | number | boolean | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value === null || value === undefined ? 'NULL' : value
  }
  return `${text}}`
}

/** An array of texts, quoted and escaped. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value === null || value === undefined ? 'NULL' : quoted(value)
  }
  return `${text}}`
}

/** An array of bytea in hex; the backslash is doubled, since array elements are unescaped once. */
export function bytesArray(values: readonly (Buffer | null)[]): string {
  let text = '{'
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (at > 0) text += ','
    text += value ? `"\\\\x${value.toString('hex')}"` : 'NULL'
  }
  return `${text}}`
}

/** An array of timestamps, from milliseconds since the epoch. */
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

/** Texts for which JSON and array literals have the same escapes: quotes and backslashes only. */
const AS_JSON = /^[ -\ud7ff\ue000-\uffff]*$/

function quoted(value: string): string {
  // JSON.stringify takes half the time, and most texts allow it.
  return AS_JSON.test(value) ? JSON.stringify(value) : `"${value.replace(/["\\]/g, '\\$&')}"`
}

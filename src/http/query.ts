import type { Detail } from '../contract/errors.ts'

/** Where a query that cannot be read leaves word for the validation. */
const FAULT = Symbol('fault')

type Query = Record<string, string | string[]> & { [FAULT]?: Detail }

/**
 * Reads a query string strictly: percent signs must encode UTF-8, and NUL is
 * refused, since no store can hold it. A repeated name gives an array. The plus of
 * a phone number or of a time stays one, encoded or not.
 */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null)
  if (text === '') return query
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = decode(at === -1 ? pair : pair.slice(0, at))
    const value = decode(at === -1 ? '' : pair.slice(at + 1))
    if (name === null) query[FAULT] = { path: '', message: 'the query must be percent-encoded UTF-8' }
    else if (value === null) query[FAULT] = { path: name, message: 'must be percent-encoded UTF-8' }
    else add(query, name, value)
  }
  return query
}

/** What was wrong with the query, if anything. */
export function queryFault(query: unknown): Detail | undefined {
  return (query as Query)[FAULT]
}

/** A plus stands for a space, but where nobody writes one: before a phone number, and in a time's offset. */
const PLUS_ITSELF = /^\+(?=\d)|(?<=T[\d:.]+)\+(?=\d\d:?\d\d$)/g

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replace(PLUS_ITSELF, '%2B').replaceAll('+', ' '))
    return decoded.includes('\0') ? null : decoded
  } catch {
    return null
  }
}

function add(query: Query, name: string, value: string): void {
  const held = query[name]
  if (held === undefined) query[name] = value
  else if (typeof held === 'string') query[name] = [held, value]
  else held.push(value)
}

import type { Detail } from '../contract/errors.ts'

/** The key under which a malformed query passes its error to the validation. */
const FAULT = Symbol('fault')

type Query = Record<string, string | string[]> & { [FAULT]?: Detail }

/**
 * Parses a query string strictly: percent signs must encode UTF-8, and NUL is refused, since the database cannot
 * store it. A repeated name gives an array. The plus of a phone number or a time stays, encoded or not.
 */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null)
  if (text === '') return query
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = decode(at === -1 ? pair : pair.slice(0, at))
    const value = decode(at === -1 ? '' : pair.slice(at + 1))
    if ('fault' in name) query[FAULT] = { path: '', message: `the query ${name.fault}` }
    else if ('fault' in value) query[FAULT] = { path: name.text, message: value.fault }
    else add(query, name.text, value.text)
  }
  return query
}

/** The error of a malformed query, if any. */
export function queryFault(query: unknown): Detail | undefined {
  return (query as Query)[FAULT]
}

/** A plus means a space, except before a phone number and in the offset of a time. */
const PLUS_ITSELF = /^\+(?=\d)|(?<=T[\d:.]+)\+(?=\d\d(?::?\d\d)?$)/g

function decode(escaped: string): { text: string } | { fault: string } {
  try {
    const text = decodeURIComponent(escaped.replace(PLUS_ITSELF, '%2B').replaceAll('+', ' '))
    return text.includes('\0') ? { fault: 'must not contain NUL characters' } : { text }
  } catch {
    return { fault: 'must be percent-encoded UTF-8' }
  }
}

function add(query: Query, name: string, value: string): void {
  const held = query[name]
  if (held === undefined) query[name] = value
  else if (typeof held === 'string') query[name] = [held, value]
  else held.push(value)
}

import { parseIsoTime } from '../lib/iso-time.ts'
import type { Phones } from '../lib/phone.ts'
import { invalid } from './errors.ts'

/** Whether what was found is what a filter wants, if it wants anything. */
export function agrees<T>(wanted: T | undefined, found: T | null | undefined): boolean {
  return wanted === undefined || wanted === found
}

/** An address, or a key with one in it, of a query: a plus that nobody escaped arrives there as a space. */
export function withPlus(text: string): string {
  return text.replace(/(^|:) (?=\d)/, '$1+')
}

/** Whom a query asks for as the store has them: a phone may be written in any way in which a send takes it. */
export function asStored(address: string, phones: Phones): string {
  const text = withPlus(address)
  return phones.parse(text)?.e164 ?? text
}

/** A time of a query, in ms since the epoch. Throws a VALIDATION_ERROR that names `path`. */
export function readTime(text: string, path: string): number {
  const atMs = parseIsoTime(text)
  if (atMs === null) throw invalid(path, 'must be an ISO 8601 time with a zone, as in 2030-01-31T09:00:00Z')
  return atMs
}

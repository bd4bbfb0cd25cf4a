import { parseIsoTime } from '../lib/iso-time.ts'
import type { Phones } from '../lib/phone.ts'
import { invalid } from './errors.ts'

/** Whether a value matches a filter; an absent filter matches every value. */
export function agrees<T>(wanted: T | undefined, found: T | null | undefined): boolean {
  return wanted === undefined || wanted === found
}

/**
 * Restores an unescaped plus of a phone number in a query, which arrives as a space; for an address, or a key
 * that contains one.
 */
export function restorePlus(text: string): string {
  return text.replace(/(^|:) (?=\d)/, '$1+')
}

/** The same for an address alone. An e-mail address has no spaces: in one, each of them was a plus. */
export function restorePlusOfAddress(text: string): string {
  return text.includes('@') ? text.replaceAll(' ', '+') : restorePlus(text)
}

/** An address of a query in stored form: phone numbers may be written as in a send. */
export function toStoredAddress(address: string, phones: Phones): string {
  const text = restorePlusOfAddress(address)
  return phones.parse(text)?.e164 ?? text
}

/** Parses a time of a query, in ms since the epoch. Throws a VALIDATION_ERROR that names `path`. */
export function readTime(text: string, path: string): number {
  const atMs = parseIsoTime(text)
  if (atMs === null) throw invalid(path, 'must be an ISO 8601 time with a zone, as in 2030-01-31T09:00:00Z')
  return atMs
}

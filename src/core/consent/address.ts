import { domainToASCII } from 'node:url'
import { comparablePhone } from '../../lib/phone.ts'
import type { Recipient } from '../routing/recipient.ts'

/** An address as lists show it: the domain in lower case, since domains are case-insensitive. */
export function displayAddress(recipient: Recipient): string {
  if (recipient.kind !== 'email') return recipient.address
  const at = recipient.address.lastIndexOf('@')
  return recipient.address.slice(0, at) + recipient.address.slice(at).toLowerCase()
}

/** A phone number as it is stored. */
const DIGITS = /^\+[0-9]+$/

/**
 * The key by which addresses are compared; equal for all spellings of an address. In theory mailboxes that
 * differ only in case may be two people's; if in doubt, neither gets marketing. A domain is the same in
 * Unicode and as A-labels (xn--).
 */
export function addressKeyOf(address: string): string {
  // Most addresses, and each send asks: the rest would leave them as they are.
  if (DIGITS.test(address)) return comparablePhone(address)
  // Normalised last: some letters have a composed form in lower case only (ǰ).
  const text = address.normalize('NFC').toLowerCase().normalize('NFC')
  const at = text.lastIndexOf('@')
  if (at < 0) return comparablePhone(text)
  const domain = at < 1 ? '' : domainToASCII(text.slice(at + 1))
  return domain === '' ? text : text.slice(0, at + 1) + domain
}

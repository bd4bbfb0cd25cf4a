import { domainToASCII } from 'node:url'
import type { Recipient } from '../routing/recipient.ts'

/** An address as lists show it: mail servers tell the names of domains apart by no case, and here one stands for all. */
export function shownAs(recipient: Recipient): string {
  if (recipient.kind !== 'email') return recipient.address
  const at = recipient.address.lastIndexOf('@')
  return recipient.address.slice(0, at) + recipient.address.slice(at).toLowerCase()
}

/**
 * What two addresses share when they are one person's. In theory the case of a
 * mailbox could tell two people apart; in doubt nobody is written to. A domain may be
 * spelled in its own letters or in those of the name system (xn--).
 */
export function keyOf(address: string): string {
  const text = address.normalize('NFC').toLowerCase()
  const at = text.lastIndexOf('@')
  const domain = at < 1 ? '' : domainToASCII(text.slice(at + 1))
  return domain === '' ? text : text.slice(0, at + 1) + domain
}

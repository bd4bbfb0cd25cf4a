import ipaddr from 'ipaddr.js'
import { DAY_MS } from '../../lib/durations.ts'
import { keyOf } from '../consent/address.ts'

/** What a key stands for; the key begins with it. */
export type ScopeKind = 'r4' | 'r5' | 'r6' | 'country' | 'ip' | 'spend' | 'account'

export type Scope = { kind: ScopeKind; key: string }

/** Blocks of 10,000, 100,000 and 1,000,000 numbers: what is left without the last digits. */
const RANGES = [
  ['r4', 4],
  ['r5', 5],
  ['r6', 6],
] as const
/** A country's code and a digit or more: what is shorter is no range of its own. */
const LEAST_DIGITS = 5
/** Who has IPv6 has a network of it. */
const IPV6_NETWORK_GROUPS = 4

export const ACCOUNT_SCOPE: Scope = { kind: 'account', key: 'account' }

/** What all recipients share whose places are the same, beside their country. */
export function rangeOf(recipient: string): string {
  return recipient.startsWith('+') ? recipient.slice(0, -RANGES[0][1]) : ''
}

/** The ranges that a number lies in, the narrowest first, and its country; nothing for an e-mail address. */
export function placesOf(recipient: string, country: string | null): Scope[] {
  if (!recipient.startsWith('+')) return []
  const scopes: Scope[] = []
  for (const [kind, dropped] of RANGES) {
    const range = recipient.slice(0, -dropped)
    if (range.length > LEAST_DIGITS) scopes.push({ kind, key: `${kind}:${range}` })
  }
  if (country !== null) scopes.push({ kind: 'country', key: `country:${country}` })
  return scopes
}

/** Of a mailbox: what stands behind a plus is for its owner to sort by (RFC 5233). */
const SUBADDRESS = /^([^+@]+)\+[^@]*@/

/** What all addresses share that reach one person: spellings of it, and the sub-addresses of one mailbox. */
export function personOf(recipient: string): string {
  return recipient.includes('@') ? keyOf(recipient).replace(SUBADDRESS, '$1@') : recipient
}

/** Null for what is no address. */
export function addressOf(clientIp: string | null): Scope | null {
  if (clientIp === null || !ipaddr.isValid(clientIp)) return null
  const address = ipaddr.process(clientIp)
  if (address.kind() === 'ipv4') return { kind: 'ip', key: `ip:${address.toString()}` }
  const groups = (address as ipaddr.IPv6).parts.slice(0, IPV6_NETWORK_GROUPS)
  return { kind: 'ip', key: `ip:${groups.map(group => group.toString(16)).join(':')}::/64` }
}

/** Spending counts by the UTC day. */
export function dayOf(nowMs: number): Scope {
  return { kind: 'spend', key: `spend:${Math.floor(nowMs / DAY_MS)}` }
}

/** As people read it: the range, the country, the network. */
export function nameOf({ key }: Scope): string {
  return key.slice(key.indexOf(':') + 1)
}

import { clientNetworkOf } from '../../lib/client-network.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { addressKeyOf } from '../consent/address.ts'

/** What a key stands for; the key begins with it. */
export type ScopeKind = 'r4' | 'r5' | 'r6' | 'country' | 'ip' | 'spend' | 'account'

export type Scope = { kind: ScopeKind; key: string }

/** Ranges of 10,000, 100,000 and 1,000,000 numbers: prefixes without the last 4, 5 and 6 digits. */
const RANGES = [
  ['r4', 4],
  ['r5', 5],
  ['r6', 6],
] as const
/** The shortest prefix that is a range: a country code and at least one more digit. */
const MIN_DIGITS = 5

export const ACCOUNT_SCOPE: Scope = { kind: 'account', key: 'account' }

/** The narrowest range of a number: recipients with the same one, and the same country, have the same scopes. */
export function rangeOf(recipient: string): string {
  return recipient.startsWith('+') ? recipient.slice(0, -RANGES[0][1]) : ''
}

/** The ranges that contain a number, the narrowest first, then its country; empty for an e-mail address. */
export function scopesOf(recipient: string, country: string | null): Scope[] {
  if (!recipient.startsWith('+')) return []
  const scopes: Scope[] = []
  for (const [kind, dropped] of RANGES) {
    const range = recipient.slice(0, -dropped)
    if (range.length > MIN_DIGITS) scopes.push({ kind, key: `${kind}:${range}` })
  }
  if (country !== null) scopes.push({ kind: 'country', key: `country:${country}` })
  return scopes
}

/** A mailbox with a sub-address: its owner chooses what follows the plus (RFC 5233). */
const SUBADDRESS = /^([^+@]+)\+[^@]*@/

/** One key for all addresses of a person: spellings of an address, and sub-addresses of a mailbox. */
export function personOf(recipient: string): string {
  return addressKeyOf(recipient).replace(SUBADDRESS, '$1@')
}

/** Null for an invalid IP address. */
export function ipScopeOf(clientIp: string | null): Scope | null {
  const network = clientIp === null ? null : clientNetworkOf(clientIp)
  return network === null ? null : { kind: 'ip', key: `ip:${network}` }
}

/** Spending is counted per UTC day. */
export function dayScopeOf(nowMs: number): Scope {
  return { kind: 'spend', key: `spend:${Math.floor(nowMs / DAY_MS)}` }
}

/** For people: the range, the country or the network. */
export function labelOf({ key }: Scope): string {
  return key.slice(key.indexOf(':') + 1)
}

import { hash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { Problem } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { createTokenBuckets, type TokenBuckets } from '../../lib/token-bucket.ts'

/**
 * How often somebody may try: so many guesses at once, then one now and then. Counted on each
 * node, in memory; what went well does not count.
 */
export type Attempts = {
  /** Counts one against each; throws RATE_LIMITED where there are none left. */
  take(...chances: Chance[]): void
  /** It was no guess after all. */
  back(...chances: Chance[]): void
}

/** What a guess counts against. */
export type Chance = readonly [kind: ChanceKind, key: string]

type ChanceKind = keyof typeof RATES

const RATES = {
  // A whole office may come from one.
  address: { burst: 30, perSecond: 1 / 4 },
  // The operator's token, likewise.
  operator: { burst: 30, perSecond: 1 / 4 },
  // Of one login from one place, or of somebody who is signed in.
  login: { burst: 10, perSecond: 1 / 60 },
  // From all unknown browsers together: whoever guesses from everywhere leaves no more than this.
  anywhere: { burst: 100, perSecond: 1 / 6 },
  // Of one login in a browser in which it has come in before: that nobody else takes anything from.
  known: { burst: 10, perSecond: 1 / 60 },
  // Logins that went well: each stays in the audit log.
  entry: { burst: 100, perSecond: 1 },
  // Six digits are few: at this pace one of the three that count is found in some six years. By
  // whoever has the password already, from wherever; in a known browser by that one.
  code: { burst: 10, perSecond: 1 / 600 },
} as const
/** Of each kind for itself: addresses cost nothing, and many of them push out no counted codes. */
const MOST_KEPT = 20_000

export function createAttempts({ clock }: { clock: Clock }): Attempts {
  const buckets = Object.fromEntries(
    Object.keys(RATES).map(kind => [kind, createTokenBuckets(MOST_KEPT)]),
  ) as Record<ChanceKind, TokenBuckets>

  function take(kind: ChanceKind, key: string): void {
    const { burst, perSecond } = RATES[kind]
    const verdict = buckets[kind].take(bucketOf(key), perSecond, burst, clock.monotonic())
    if (verdict.allowed) return
    throw new Problem('RATE_LIMITED', 'Too many attempts.', {
      retryAfterSeconds: verdict.retryAfterMs / 1000,
    })
  }

  return {
    take(...chances) {
      for (const [kind, key] of chances) take(kind, key)
    },
    back(...chances) {
      for (const [kind, key] of chances) buckets[kind].back(bucketOf(key), RATES[kind].perSecond)
    },
  }
}

export function fromAddress(ip: string): Chance {
  return ['address', networkOf(ip)]
}

/** Of whoever shows a token as the operator's. */
export function asOperator(ip: string): Chance {
  return ['operator', networkOf(ip)]
}

/** What somebody counts against who says that this login is theirs; `browser` where it is known of old. */
export function asLogin(emailKey: string, ip: string, browser: string | null): Chance[] {
  if (browser !== null) return [['known', `${emailKey} ${browser}`]]
  return [fromAddress(ip), ['login', `${emailKey} ${networkOf(ip)}`], ['anywhere', emailKey]]
}

/** As short for an address that somebody has blown up as for any other. */
function bucketOf(key: string): string {
  return hash('sha256', key, 'base64')
}

/** Who has IPv6 has a network of it. */
const IPV6_NETWORK_GROUPS = 4

/** `198.51.100.7:50123`, `[2001:db8::1]` and `[2001:db8::1]:50123`, as some proxies tell an address. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/

function networkOf(told: string): string {
  // Each connection has a port of its own, and would be a place of its own.
  const [, bracketed, plain] = WITH_PORT.exec(told) ?? []
  const ip = bracketed ?? plain ?? told
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return (address as ipaddr.IPv6).parts.slice(0, IPV6_NETWORK_GROUPS).join(':')
}

import { hash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { Problem } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { createTokenBuckets } from '../../lib/token-bucket.ts'

/**
 * How often somebody may try: so many guesses at once, then one now and then. Counted on each
 * node, in memory; what went well does not count.
 */
export type Attempts = {
  /** Counts one; throws RATE_LIMITED when there are none left. */
  take(kind: AttemptKind, key: string): void
  /** It was no guess after all. */
  back(kind: AttemptKind, key: string): void
}

export type AttemptKind = 'address' | 'login'

const RATES: Record<AttemptKind, { burst: number; perSecond: number }> = {
  // A whole office may come from one.
  address: { burst: 30, perSecond: 1 / 4 },
  login: { burst: 10, perSecond: 1 / 60 },
}
const MOST_KEPT = 20_000

export function createAttempts({ clock }: { clock: Clock }): Attempts {
  const buckets = createTokenBuckets(MOST_KEPT)
  return {
    take(kind, key) {
      const { burst, perSecond } = RATES[kind]
      const verdict = buckets.take(`${kind}:${networkOf(kind, key)}`, perSecond, burst, clock.monotonic())
      if (!verdict.allowed) {
        const retryAfterSeconds = verdict.retryAfterMs / 1000
        throw new Problem('RATE_LIMITED', 'Too many attempts.', { retryAfterSeconds })
      }
    },
    back: (kind, key) => buckets.back(`${kind}:${networkOf(kind, key)}`, RATES[kind].perSecond),
  }
}

/** Who has IPv6 has a network of it. */
const IPV6_NETWORK_GROUPS = 4

/** What is counted: as short for an address that somebody has blown up as for any other. */
function networkOf(kind: AttemptKind, key: string): string {
  if (kind === 'login') return hash('sha256', key, 'base64')
  if (!ipaddr.isValid(key)) return key
  const address = ipaddr.process(key)
  if (address.kind() === 'ipv4') return address.toString()
  return (address as ipaddr.IPv6).parts.slice(0, IPV6_NETWORK_GROUPS).join(':')
}

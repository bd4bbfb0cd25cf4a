import { hash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { clientNetworkOf } from '../../lib/client-network.ts'
import type { Clock } from '../../lib/clock.ts'
import { createTokenBuckets, type TokenBuckets } from '../../lib/token-bucket.ts'

/**
 * Limits on guesses, as token buckets: so many at once, then a slow rate. Counted per node, in
 * memory; successful attempts do not count.
 */
export type Attempts = {
  /** Takes one from each bucket; throws RATE_LIMITED where one is empty. */
  take(...chances: AttemptBucket[]): void
  /** Gives them back: the attempt was no wrong guess. */
  release(...chances: AttemptBucket[]): void
}

/** A bucket that a guess is taken from. */
export type AttemptBucket = readonly [kind: AttemptKind, key: string]

type AttemptKind = keyof typeof RATES

const RATES = {
  // By IP address: a whole office may share one.
  address: { burst: 30, perSecond: 1 / 4 },
  // The operator's token, by IP address.
  operator: { burst: 30, perSecond: 1 / 4 },
  // One login from one address, or a person who is signed in.
  login: { burst: 10, perSecond: 1 / 60 },
  // One login, from all unknown browsers together: limits guessing from many addresses.
  anywhere: { burst: 100, perSecond: 1 / 6 },
  // One login in a browser in which it has signed in before: guesses from elsewhere do not use this up.
  known: { burst: 10, perSecond: 1 / 60 },
  // Successful logins: each adds to the audit log.
  entry: { burst: 100, perSecond: 1 },
  // Codes of the second factor, guessed by somebody who has the password: one login from all addresses, or in one
  // known browser. At this rate one of the three valid codes of six digits is found in some six years.
  code: { burst: 10, perSecond: 1 / 600 },
} as const
/** Buckets kept per kind. Kinds have separate stores: many addresses, which are cheap, must not evict the buckets of codes. */
const MAX_BUCKETS_PER_KIND = 20_000

export function createAttempts({ clock }: { clock: Clock }): Attempts {
  const buckets = Object.fromEntries(
    Object.keys(RATES).map(kind => [kind, createTokenBuckets(MAX_BUCKETS_PER_KIND)]),
  ) as Record<AttemptKind, TokenBuckets>

  function take(kind: AttemptKind, key: string): void {
    const { burst, perSecond } = RATES[kind]
    const verdict = buckets[kind].take(hashBucketKey(key), perSecond, burst, clock.monotonic())
    if (verdict.allowed) return
    throw new Problem('RATE_LIMITED', 'Too many attempts.', {
      retryAfterSeconds: verdict.retryAfterMs / 1000,
    })
  }

  return {
    take(...chances) {
      for (const [kind, key] of chances) take(kind, key)
    },
    release(...chances) {
      const nowMs = clock.monotonic()
      for (const [kind, key] of chances)
        buckets[kind].refund(hashBucketKey(key), RATES[kind].perSecond, nowMs)
    },
  }
}

/** Counts an attempt unless `look` finds something, or throws: a database that is away, or a full queue, is no wrong guess. */
export async function countingAttempt<T>(
  attempts: Attempts,
  chances: readonly AttemptBucket[],
  look: () => Promise<T | null>,
): Promise<T | null> {
  attempts.take(...chances)
  let isWrong = false
  try {
    const found = await look()
    isWrong = found === null
    return found
  } finally {
    if (!isWrong) attempts.release(...chances)
  }
}

/** The bucket of one place: an IPv4 address, or the network of an IPv6 one. */
export function addressBucket(ip: string): AttemptBucket {
  return ['address', clientNetwork(ip)]
}

/** The bucket of requests with an operator token. */
export function operatorBucket(ip: string): AttemptBucket {
  return ['operator', clientNetwork(ip)]
}

/** The buckets of an attempt at this login; `browser`: the known browser, if it is one. */
export function loginBuckets(emailKey: string, ip: string, browser: string | null): AttemptBucket[] {
  if (browser !== null) return [['known', `${emailKey} ${browser}`]]
  return [addressBucket(ip), ['login', `${emailKey} ${clientNetwork(ip)}`], ['anywhere', emailKey]]
}

/** A hash, so that a long e-mail address takes no more memory than a short one. */
function hashBucketKey(key: string): string {
  return hash('sha256', key, 'base64')
}

/** `198.51.100.7:50123`, `[2001:db8::1]` and `[2001:db8::1]:50123`: forms that some proxies send. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/

function clientNetwork(clientAddress: string): string {
  // Without the port, which differs for every connection.
  const [, bracketed, plain] = WITH_PORT.exec(clientAddress) ?? []
  const ip = bracketed ?? plain ?? clientAddress
  return clientNetworkOf(ip) ?? ip
}

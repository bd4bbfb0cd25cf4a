import type { FastifyReply } from 'fastify'
import type { AccountSnapshot } from '../contract/caller.ts'
import { Problem } from '../contract/errors.ts'
import type { Clock } from '../lib/clock.ts'
import { createTokenBuckets, type Verdict } from '../lib/token-bucket.ts'
import type { RateGroup } from './route.ts'

/** The burst is this many seconds' worth of requests. */
const BURST_SECONDS = 2
/** Accounts times groups that a node keeps count of. */
const MAX_BUCKETS = 100_000

export type RateLimiter = {
  /** Counts one request and announces what is left; throws RATE_LIMITED when nothing is. */
  take(account: AccountSnapshot, group: RateGroup | 'console', reply: FastifyReply): void
  /**
   * Counts a change that somebody makes of their own login, which no plan bounds; throws
   * RATE_LIMITED. The audit log keeps each for ever.
   */
  takeForUser(userId: string): void
}

const USER_LIMIT = { burst: 100, perSecond: 2 } as const

/**
 * One token bucket per account and group of operations, by the plan's rate.
 * Nodes share nothing but the database, so each deals out its share of the rate.
 */
export function createRateLimiter(deps: { clock: Clock; nodeCount: () => number }): RateLimiter {
  const buckets = createTokenBuckets(MAX_BUCKETS)

  return {
    take(account, group, reply) {
      const ratePerSecond = rateOf(account, group) / Math.max(1, deps.nodeCount())
      // A share below one request would never pass any.
      const burst = Math.max(1, ratePerSecond * BURST_SECONDS)
      const verdict = buckets.take(`${group}:${account.id}`, ratePerSecond, burst, deps.clock.monotonic())
      setRateLimitHeaders(reply, group, burst, ratePerSecond, verdict)
      if (!verdict.allowed) throw tooMany(verdict)
    },
    takeForUser(userId) {
      const { burst, perSecond } = USER_LIMIT
      const verdict = buckets.take(`own:${userId}`, perSecond, burst, deps.clock.monotonic())
      if (!verdict.allowed) throw tooMany(verdict)
    },
  }
}

function rateOf({ plan }: AccountSnapshot, group: RateGroup | 'console'): number {
  return group === 'verification_send' ? plan.verificationRateLimitPerSecond : plan.rateLimitPerSecond
}

/** `RateLimit-Policy` and `RateLimit` as draft-ietf-httpapi-ratelimit-headers (08 to 11) has them. */
function setRateLimitHeaders(
  reply: FastifyReply,
  group: RateGroup | 'console',
  burst: number,
  rate: number,
  verdict: Verdict,
): void {
  const windowSeconds = Math.max(1, Math.round(burst / rate))
  reply.header('RateLimit-Policy', `"${group}";q=${Math.floor(burst)};w=${windowSeconds}`)
  reply.header('RateLimit', `"${group}";r=${verdict.remaining};t=${verdict.resetSeconds}`)
}

function tooMany(verdict: Verdict): Problem {
  return new Problem('RATE_LIMITED', undefined, { retryAfterSeconds: verdict.retryAfterMs / 1000 })
}

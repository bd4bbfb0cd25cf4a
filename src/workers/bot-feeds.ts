import { claimFeeds, type FeedLease, listHeldFeeds, releaseFeeds } from '../core/bots/feed-store.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import type { BotId } from '../lib/ids.ts'
import { type BotPoller, type BotPollerDeps, startBotPoller } from './bot-poller.ts'

export type BotFeeds = {
  /** Takes bots that wait, and lets go of those that are not this node's any more; for the loop. */
  round(): Promise<void>
  /** A bot came, went or changed. */
  changed(): void
  /** How many bots this node asks for. */
  count(): number
  /** Asks nothing more, and leaves its bots to others. */
  stop(): Promise<void>
}

export type BotFeedsDeps = Omit<BotPollerDeps, 'lost'> & { db: Database; clock: Clock; node(): number }

/** Without word of a change, a look at what others left, and at what is this node's share. */
const LOOK_EVERY_MS = 2_000
/** Without an answer of the store for so long, its bots may be another node's, whose questions these would cut off. */
const BLIND_MS = 6_000
const CLAIMED_AT_ONCE = 500

/**
 * Asks the platform for the updates of bots without a webhook: each bot by one node, by a lease with a fencing
 * number, and all of them spread over the nodes that live.
 */
export function createBotFeeds(deps: BotFeedsDeps): BotFeeds {
  const { db, clock } = deps
  const pollers = new Map<BotId, BotPoller>()
  let heldAs = deps.node()
  let nextLookMs = Number.NEGATIVE_INFINITY
  let inStepMs = clock.monotonic()
  let stopped = false

  async function round(): Promise<void> {
    if (stopped || clock.monotonic() < nextLookMs) return
    nextLookMs = clock.monotonic() + LOOK_EVERY_MS
    try {
      await leaveWithLease()
      for (const lease of await claimFeeds(db, heldAs, CLAIMED_AT_ONCE)) start(lease)
      await bringInStep()
      inStepMs = clock.monotonic()
    } catch (error) {
      if (clock.monotonic() - inStepMs > BLIND_MS) await stopAll([...pollers.values()])
      throw error
    }
  }

  /** With the node's own lease all of its bots are gone. */
  async function leaveWithLease(): Promise<void> {
    if (deps.node() === heldAs) return
    heldAs = deps.node()
    await stopAll([...pollers.values()])
  }

  function start(lease: FeedLease): void {
    if (stopped) return
    // By an earlier claim, which is over: what it still brings is refused.
    void pollers.get(lease.botId)?.stop()
    const lost = () =>
      void (pollers.get(lease.botId)?.lease.fence === lease.fence && pollers.delete(lease.botId))
    pollers.set(lease.botId, startBotPoller(lease, { ...deps, lost }))
  }

  /** What the store says is this node's is asked for, and nothing else; what is beyond its share is left to others. */
  async function bringInStep(): Promise<void> {
    const { leases, surplus } = await listHeldFeeds(db, heldAs)
    const kept = leases.slice(surplus)
    const keys = new Set(kept.map(keyOf))
    await stopAll([...pollers.values()].filter(({ lease }) => !keys.has(keyOf(lease))))
    await releaseFeeds(db, leases.slice(0, surplus))
    // Claimed, but its answer was lost.
    for (const lease of kept) if (!pollers.has(lease.botId)) start(lease)
  }

  async function stopAll(these: readonly BotPoller[]): Promise<void> {
    for (const { lease } of these) pollers.delete(lease.botId)
    await Promise.all(these.map(poller => poller.stop()))
  }

  return {
    round,
    changed() {
      nextLookMs = Number.NEGATIVE_INFINITY
    },
    count: () => pollers.size,
    async stop() {
      stopped = true
      const leases = [...pollers.values()].map(poller => poller.lease)
      await stopAll([...pollers.values()])
      await releaseFeeds(db, leases).catch(() => {})
    },
  }
}

function keyOf({ botId, fence }: FeedLease): string {
  return `${botId} ${fence}`
}

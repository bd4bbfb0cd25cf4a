import { claimFeeds, type FeedLease, listHeldFeeds, releaseFeeds } from '../core/bots/feed-store.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import type { BotId } from '../lib/ids.ts'
import { type BotPoller, type BotPollerDeps, startBotPoller } from './bot-poller.ts'

export type BotFeeds = {
  /** Claims bots that no node polls, and stops polling those that are no longer this node's; called by the loop. */
  round(): Promise<void>
  /** A bot was added, removed or changed. */
  changed(): void
  /** How many bots this node polls. */
  count(): number
  /** Stops polling, and releases its bots to other nodes. */
  stop(): Promise<void>
}

export type BotFeedsDeps = Omit<BotPollerDeps, 'onLost'> & { db: Database; clock: Clock; node(): number }

/** How often unclaimed bots, and this node's share of all, are checked without notice of a change. */
const CHECK_EVERY_MS = 2_000
/** After this long without an answer of the database, another node may poll these bots; two pollers would cut each other off. */
const MAX_OUTAGE_MS = 6_000
const CLAIMED_AT_ONCE = 500

/**
 * Polls the platform for the updates of bots without a webhook. Each bot is polled by one node, under a lease with a
 * fencing number; the bots are spread evenly over the running nodes.
 */
export function createBotFeeds(deps: BotFeedsDeps): BotFeeds {
  const { db, clock } = deps
  const pollers = new Map<BotId, BotPoller>()
  let leaseNode = deps.node()
  let nextCheckMs = Number.NEGATIVE_INFINITY
  let syncedMs = clock.monotonic()
  let stopped = false

  async function round(): Promise<void> {
    if (stopped || clock.monotonic() < nextCheckMs) return
    nextCheckMs = clock.monotonic() + CHECK_EVERY_MS
    try {
      await stopIfLeaseLost()
      for (const lease of await claimFeeds(db, leaseNode, CLAIMED_AT_ONCE)) start(lease)
      await syncPollers()
      syncedMs = clock.monotonic()
    } catch (error) {
      if (clock.monotonic() - syncedMs > MAX_OUTAGE_MS) await stopAll([...pollers.values()])
      throw error
    }
  }

  /** When the node's own lease is lost, so are the leases of all its bots. */
  async function stopIfLeaseLost(): Promise<void> {
    if (deps.node() === leaseNode) return
    leaseNode = deps.node()
    await stopAll([...pollers.values()])
  }

  function start(lease: FeedLease): void {
    if (stopped) return
    // A poller of an earlier claim, which has ended: updates that it still fetches are refused.
    void pollers.get(lease.botId)?.stop()
    const lost = () =>
      void (pollers.get(lease.botId)?.lease.fence === lease.fence && pollers.delete(lease.botId))
    pollers.set(lease.botId, startBotPoller(lease, { ...deps, onLost: lost }))
  }

  /** Polls exactly the bots that the database assigns to this node, and releases those beyond its share. */
  async function syncPollers(): Promise<void> {
    const { leases, surplus } = await listHeldFeeds(db, leaseNode)
    const kept = leases.slice(surplus)
    const keys = new Set(kept.map(keyOf))
    await stopAll([...pollers.values()].filter(({ lease }) => !keys.has(keyOf(lease))))
    await releaseFeeds(db, leases.slice(0, surplus))
    // Claimed by a call whose response was lost.
    for (const lease of kept) if (!pollers.has(lease.botId)) start(lease)
  }

  async function stopAll(these: readonly BotPoller[]): Promise<void> {
    for (const { lease } of these) pollers.delete(lease.botId)
    await Promise.all(these.map(poller => poller.stop()))
  }

  return {
    round,
    changed() {
      nextCheckMs = Number.NEGATIVE_INFINITY
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

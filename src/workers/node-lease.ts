import {
  countNodes,
  NODE_LEASE_MS,
  registerNode,
  removeExpiredNodes,
  removeNode,
  sendHeartbeat,
} from '../core/outbox/node-store.ts'
import { reclaimFromDead } from '../core/outbox/store.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { sweepAll } from './chores.ts'
import { type Loop, startLoop } from './loop.ts'

export type NodeLease = {
  /** This node's number; another one after its lease was lost. */
  id(): number
  /** The number of running nodes, this one included. */
  count(): number
  /** Removes this node, so that its messages are free at once. */
  stop(): Promise<void>
}

export type NodeLeaseDeps = {
  db: Database
  clock: Clock
  log: Log
  host: string
  /** No other node can use this database: every node that is listed is dead. */
  isExclusive: boolean
  unknownDeadlineMs: number
}

const BEAT_EVERY_MS = 1_000
/** How often rows are looked for that a node wrote after it was removed, in beats. */
const FULL_RECLAIM_EVERY_BEATS = 60
/** Messages of dead nodes that one statement reclaims: one over all messages of a bulk job might exceed its time-out. */
const MAX_RECLAIMED = 1_000
/** A dead node's last statements may still be running for a moment: after a death this many beats reclaim again. */
const RECLAIMS_AFTER_DEATH = 5
/**
 * After this long without a beat of its own, or with the database's clock set back by as much, a node cannot tell dead nodes
 * from those that have not beaten since either.
 */
const OWN_SILENCE_MS = NODE_LEASE_MS - 2 * BEAT_EVERY_MS

/** Keeps this node's lease alive, and frees the messages of dead nodes. */
export async function startNodeLease(deps: NodeLeaseDeps): Promise<NodeLease> {
  const { db, clock, log } = deps
  let id = await registerNode(db, deps.host, clock.now(), deps.isExclusive)
  let nodes = 1
  let beats = 0
  // A restart after a crash is a death too.
  let reclaimsLeft = RECLAIMS_AFTER_DEATH
  /** Until then (monotonic clock, ms) no node is removed, so that others have time to return as this one did; null for no wait. */
  let removalsFromMs: number | null = null
  await reclaim()
  const loop: Loop = startLoop({
    clock,
    everyMs: BEAT_EVERY_MS,
    round,
    onError: error => log.debug({ err: error }, 'a heartbeat of this node failed; it will be repeated'),
  })

  async function round(): Promise<undefined> {
    const silentMs = await sendHeartbeat(db, id)
    if (silentMs === null) {
      id = await registerNode(db, deps.host, clock.now(), deps.isExclusive)
      log.warn({ node: id }, 'this node lost its lease and has registered again')
      await reclaim()
    } else if (Math.abs(silentMs) > OWN_SILENCE_MS) removalsFromMs ??= clock.monotonic() + NODE_LEASE_MS
    nodes = Math.max(1, await countNodes(db))
    if ((await removeDead()) > 0) reclaimsLeft = RECLAIMS_AFTER_DEATH
    if (reclaimsLeft-- > 0 || ++beats % FULL_RECLAIM_EVERY_BEATS === 0) await reclaim()
    return undefined
  }

  /** Removes dead nodes. A node whose every beat is late waits before each removal, but not for ever. */
  async function removeDead(): Promise<number> {
    if (removalsFromMs !== null && clock.monotonic() < removalsFromMs) return 0
    removalsFromMs = null
    return removeExpiredNodes(db)
  }

  async function reclaim(): Promise<void> {
    let freed = 0
    let unknown = 0
    await sweepAll(async () => {
      const nowMs = clock.now()
      const page = await reclaimFromDead(db, nowMs, nowMs + deps.unknownDeadlineMs, MAX_RECLAIMED)
      freed += page.freed
      unknown += page.unknown
      return page.freed + page.unknown
    }, MAX_RECLAIMED)
    if (freed + unknown > 0) log.info({ freed, unknown }, 'reclaimed the messages of a dead node')
  }

  return {
    id: () => id,
    count: () => nodes,
    async stop() {
      await loop.stop()
      await removeNode(db, id)
      await reclaim()
    },
  }
}

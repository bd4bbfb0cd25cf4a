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
  /** The nodes that live, this one included. */
  count(): number
  /** Signs off, so that what is left is free at once. */
  stop(): Promise<void>
}

export type NodeLeaseDeps = {
  db: Database
  clock: Clock
  log: Log
  host: string
  /** Nobody else can be on this store: whoever is listed is dead. */
  alone: boolean
  unknownDeadlineMs: number
}

const BEAT_EVERY_MS = 1_000
/** What a node wrote after it had been buried is looked for this often, in beats. */
const FULL_RECLAIM_EVERY_BEATS = 60
/** Of what the dead held, at a time: a statement over all of a bulk job's messages might never end in time. */
const MOST_RECLAIMED = 1_000
/** A dead node's last statements may still be at work for a moment: after a death this many beats look again. */
const LOOKS_AFTER_A_DEATH = 5
/** A node that was silent for this long itself cannot tell dead nodes from those that were cut off with it. */
const OWN_SILENCE_MS = NODE_LEASE_MS - 2 * BEAT_EVERY_MS

/** Keeps this node among the living, and gives what the dead held to whoever comes. */
export async function startNodeLease(deps: NodeLeaseDeps): Promise<NodeLease> {
  const { db, clock, log } = deps
  let id = await registerNode(db, deps.host, clock.now(), deps.alone)
  let nodes = 1
  let beats = 0
  // A restart after a crash is a death too.
  let looks = LOOKS_AFTER_A_DEATH
  /** By the monotonic clock: until then the others have time to come back as this node did; null is at once. */
  let buriesFromMs: number | null = null
  await reclaim()
  const loop: Loop = startLoop({
    clock,
    everyMs: BEAT_EVERY_MS,
    round,
    onError: error => log.debug({ err: error }, 'a sign of life, or what follows it, failed; it goes on'),
  })

  async function round(): Promise<undefined> {
    const silentMs = await sendHeartbeat(db, id)
    if (silentMs === null) {
      id = await registerNode(db, deps.host, clock.now(), deps.alone)
      log.warn({ node: id }, 'this node was given up by the others and has entered anew')
      await reclaim()
    } else if (silentMs > OWN_SILENCE_MS) buriesFromMs ??= clock.monotonic() + NODE_LEASE_MS
    nodes = Math.max(1, await countNodes(db))
    if ((await bury()) > 0) looks = LOOKS_AFTER_A_DEATH
    if (looks-- > 0 || ++beats % FULL_RECLAIM_EVERY_BEATS === 0) await reclaim()
    return undefined
  }

  /** A node that is late with every beat waits before each look anew, but not for ever. */
  async function bury(): Promise<number> {
    if (buriesFromMs !== null && clock.monotonic() < buriesFromMs) return 0
    buriesFromMs = null
    return removeExpiredNodes(db)
  }

  async function reclaim(): Promise<void> {
    let freed = 0
    let unknown = 0
    await sweepAll(async () => {
      const nowMs = clock.now()
      const page = await reclaimFromDead(db, nowMs, nowMs + deps.unknownDeadlineMs, MOST_RECLAIMED)
      freed += page.freed
      unknown += page.unknown
      return page.freed + page.unknown
    }, MOST_RECLAIMED)
    if (freed + unknown > 0) log.info({ freed, unknown }, 'took over what a dead node held')
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

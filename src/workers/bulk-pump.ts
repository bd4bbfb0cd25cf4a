import type { AccountSnapshot } from '../contract/caller.ts'
import type { JobRef } from '../core/bulk/job.ts'
import type { LaneLease, SendingJob } from '../core/bulk/lane-store.ts'
import {
  claimLanes,
  type FailedRow,
  failRows,
  listSending,
  pauseBySystem,
  releaseLanes,
  storeTurns,
} from '../core/bulk/lane-store.ts'
import { type RowRequest, readPendingRows, type StoredRow } from '../core/bulk/row-store.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import type { AccountId } from '../lib/ids.ts'
import { createLru } from '../lib/lru.ts'
import { createBulkGate } from './bulk-gate.ts'
import { type BulkLane, type BulkLaneDeps, createBulkLane, TAKEOVER_WAIT_MS } from './bulk-lane.ts'
import { createBulkSlots } from './bulk-slots.ts'
import type { Dispatcher } from './dispatch.ts'

export type BulkPump = {
  /** Claims lanes that no node holds, and synchronises this node's with the database; called by the loop. */
  round(): Promise<void>
  /** An account, or one of its jobs, has changed; everything may have, for null. */
  changed(accountId: AccountId | null): void
  /** Hands over no further rows, and releases its lanes to other nodes. */
  stop(): Promise<void>
}

export type BulkPumpDeps = Omit<
  BulkLaneDeps,
  'fetch' | 'fail' | 'pause' | 'returnHeld' | 'onLaneLost' | 'onJobChanged' | 'gate' | 'slots' | 'isCrowded'
> & {
  db: Database
  /** The free slots of connections, and notices of slots that are free again. */
  connections: Pick<Dispatcher, 'freeSlotsAt' | 'onSlotFree' | 'onReturn' | 'returnHeld'>
  node(): number
  account(id: AccountId): AccountSnapshot | null | Promise<AccountSnapshot | null>
}

/** The most lanes claimed by one statement. */
const CLAIMED_AT_ONCE = 500
/** How often unclaimed lanes are looked for without notice of a change, in ms. */
const CLAIM_EVERY_MS = 2_000
/** How often all jobs of this node's lanes are read, and their progress stored, without notice of a change. */
const REFRESH_EVERY_MS = 5_000
/** The most jobs whose rows are fetched by one statement, and the most accounts that are synchronised at once, so that others have their turn in between. */
const FETCHED_AT_ONCE = 8
const SYNCED_AT_ONCE = 50
/** Rows that are turned into messages at once: an accept of some fifty, and those that gather meanwhile. More would only make each accept longer. */
const ROWS_AT_ONCE = 96
const LEFT_LANES_KEPT = 10_000
/** Rows per second, of all lanes, up to which each is sent by itself: at 10,000 that would cost an eighth more per row. */
const CROWDED_PER_SECOND = 2_000

/**
 * Hands the rows of bulk jobs over to the same accept as every send. The lane of an
 * account is one node's at a time, a lease with a fencing number, since only whoever
 * sees all of an account's rows can promise that no second of any beginning has more
 * than its ceiling.
 */
export function createBulkPump(deps: BulkPumpDeps): BulkPump {
  const { db, clock } = deps
  const lanes = new Map<AccountId, BulkLane>()
  const dirty = new Set<AccountId>()
  const lostLanes = new Set<AccountId>()
  /** Lanes that this node has left with no row on its way: their fences, and when that was, by the monotonic clock. */
  const leftLanes = createLru<AccountId, { fence: number; atMs: number }>(LEFT_LANES_KEPT)
  /** The state of each account's jobs as it was last stored. */
  const storedStates = new Map<AccountId, Map<JobRef['id'], string>>()
  const fetches = createBatcher<RowRequest, StoredRow[]>({
    flush: asks => readPendingRows(db, asks),
    maxItems: FETCHED_AT_ONCE,
    maxConcurrentFlushes: 2,
  })
  const failures = createBatcher<FailedRow, boolean>({
    flush: rows => failRows(db, deps.node(), clock.now(), rows),
  })
  const slots = createBulkSlots(deps.connections.freeSlotsAt)
  deps.connections.onSlotFree(slots.slotFreed)
  deps.connections.onReturn(({ accountId, bulkJobId }, returning) => {
    const lane = lanes.get(accountId)
    if (lane) lane.addReturning(bulkJobId, returning)
    else returning.defer()
  })
  /** How many rows each lane has due per second, and their sum below. */
  const due = new Map<AccountId, number>()
  let duePerSecond = 0
  let leaseNode = deps.node()
  let nextClaimMs = Number.NEGATIVE_INFINITY
  let nextRefreshMs = Number.NEGATIVE_INFINITY
  let stopped = false

  const laneDeps: BulkLaneDeps = {
    ...deps,
    gate: createBulkGate({ clock, places: ROWS_AT_ONCE, duePerSecond: () => duePerSecond }),
    slots,
    isCrowded: () => duePerSecond > CROWDED_PER_SECOND,
    fetch: ask => fetches.add(ask),
    fail: row => failures.add(row),
    pause: (job, why) => pauseBySystem(db, job, why),
    returnHeld: deps.connections.returnHeld,
    onLaneLost: accountId => void lostLanes.add(accountId),
    onJobChanged: accountId => void dirty.add(accountId),
  }

  async function round(): Promise<void> {
    if (stopped) return
    await releaseLost()
    await claim()
    await refresh()
    await releaseIdle()
  }

  /** When the node's lease is lost, so are all its lanes; single lanes may be lost for other reasons. */
  async function releaseLost(): Promise<void> {
    if (deps.node() !== leaseNode) {
      for (const accountId of lanes.keys()) lostLanes.add(accountId)
      leaseNode = deps.node()
    }
    const gone = [...lostLanes]
    await release(gone)
    // Lanes that were lost meanwhile stay in the set for the next round; otherwise their jobs would never go on.
    for (const accountId of gone) lostLanes.delete(accountId)
  }

  async function claim(): Promise<void> {
    if (clock.monotonic() < nextClaimMs) return
    // Before the statement, which does not see a job that is announced while it runs.
    nextClaimMs = clock.monotonic() + CLAIM_EVERY_MS
    const leases = await claimLanes(db, leaseNode, CLAIMED_AT_ONCE, [...lanes.keys()])
    if (leases.length === CLAIMED_AT_ONCE) nextClaimMs = Number.NEGATIVE_INFINITY
    // A node that others took for dead claims its own lanes, too: before it has registered again, and knows that it lost them.
    await Promise.all(leases.map(({ accountId }) => lanes.get(accountId)?.stop()))
    for (const lease of leases) {
      lanes.set(lease.accountId, createBulkLane(lease, opensAt(lease), laneDeps))
      dirty.add(lease.accountId)
    }
  }

  /** When rows that were sent from this lane before no longer count. */
  function opensAt({ accountId, fence }: LaneLease): number {
    const nowMs = clock.monotonic()
    // The first node to hold it has no predecessor to wait for.
    if (fence === 1) return nowMs
    const mine = leftLanes.get(accountId)
    const leftMs = mine?.fence === fence - 1 ? mine.atMs : nowMs
    return leftMs + TAKEOVER_WAIT_MS
  }

  async function refresh(): Promise<void> {
    if (clock.monotonic() >= nextRefreshMs) {
      nextRefreshMs = clock.monotonic() + REFRESH_EVERY_MS
      for (const accountId of lanes.keys()) dirty.add(accountId)
    }
    const changed = [...dirty].filter(accountId => lanes.has(accountId))
    for (let at = 0; at < changed.length; at += SYNCED_AT_ONCE) {
      const some = changed.slice(at, at + SYNCED_AT_ONCE)
      for (const accountId of some) dirty.delete(accountId)
      try {
        await syncAccounts(some)
      } catch (error) {
        for (const accountId of some) dirty.add(accountId)
        throw error
      }
    }
    for (const accountId of dirty) if (!lanes.has(accountId)) dirty.delete(accountId)
  }

  /** Stores whose turn it is before any row is handed over accordingly. */
  async function syncAccounts(accountIds: readonly AccountId[]): Promise<void> {
    const jobs = Map.groupBy(await listSending(db, accountIds), job => job.accountId)
    for (const accountId of accountIds) await update(accountId, jobs.get(accountId) ?? [])
    const turns = accountIds.flatMap(accountId => lanes.get(accountId)?.jobStates() ?? [])
    const news = turns.filter(turn => storedStates.get(turn.accountId)?.get(turn.id) !== stateKeyOf(turn))
    await storeTurns(db, news, clock.now())
    for (const turn of news) storedStates.get(turn.accountId)?.set(turn.id, stateKeyOf(turn))
    for (const accountId of accountIds) lanes.get(accountId)?.run()
  }

  async function update(accountId: AccountId, jobs: readonly SendingJob[]): Promise<void> {
    const account = await deps.account(accountId)
    if (account) lanes.get(accountId)?.update(jobs, account)
    updateDue(accountId)
    // Compared with the database, so that states written by others, or reset by a pause, are stored again.
    storedStates.set(accountId, new Map(jobs.map(job => [job.id, stateKeyOf(job)])))
  }

  function updateDue(accountId: AccountId): void {
    duePerSecond -= due.get(accountId) ?? 0
    due.delete(accountId)
    const ofLane = lanes.get(accountId)?.duePerSecond() ?? 0
    if (ofLane === 0) return
    due.set(accountId, ofLane)
    duePerSecond += ofLane
  }

  async function releaseIdle(): Promise<void> {
    const idle = [...lanes.values()].filter(lane => lane.isIdle())
    await release(idle.map(lane => lane.accountId))
  }

  async function release(accountIds: readonly AccountId[]): Promise<void> {
    const left = accountIds.filter(accountId => lanes.has(accountId))
    await Promise.all(left.map(accountId => lanes.get(accountId)!.stop()))
    for (const accountId of left) {
      const lane = lanes.get(accountId)!
      if (lane.isIdle()) leftLanes.set(accountId, { fence: lane.fence, atMs: clock.monotonic() })
      lanes.delete(accountId)
      storedStates.delete(accountId)
      updateDue(accountId)
    }
    await releaseLanes(db, leaseNode, left)
    if (left.length > 0) nextClaimMs = Number.NEGATIVE_INFINITY
  }

  return {
    round,
    changed(accountId) {
      nextClaimMs = Number.NEGATIVE_INFINITY
      if (accountId) dirty.add(accountId)
      else nextRefreshMs = Number.NEGATIVE_INFINITY
    },
    async stop() {
      stopped = true
      await Promise.all([...lanes.values()].map(lane => lane.stop()))
      await releaseLanes(db, leaseNode, [...lanes.keys()]).catch(() => {})
      lanes.clear()
    },
  }
}

function stateKeyOf({ status, handedBelow }: { status: string; handedBelow: number }): string {
  return `${status} ${handedBelow}`
}

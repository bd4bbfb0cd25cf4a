import type { AccountSnapshot } from '../contract/caller.ts'
import type { JobRef } from '../core/bulk/job.ts'
import type { SendingJob } from '../core/bulk/lane-store.ts'
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
import { createBulkGate } from './bulk-gate.ts'
import { type BulkLane, type BulkLaneDeps, createBulkLane } from './bulk-lane.ts'
import { createBulkRoom } from './bulk-room.ts'
import type { Dispatcher } from './dispatch.ts'

export type BulkPump = {
  /** Takes lanes that wait, and brings those of this node in step with the store; for the loop. */
  round(): Promise<void>
  /** An account, or one of its jobs, has changed; everything may have, for null. */
  changed(accountId: AccountId | null): void
  /** Hands nothing over any more, and leaves its lanes to others. */
  stop(): Promise<void>
}

export type BulkPumpDeps = Omit<
  BulkLaneDeps,
  'fetch' | 'fail' | 'pause' | 'lost' | 'moved' | 'gate' | 'room' | 'isCrowded'
> & {
  db: Database
  /** Places of connections, and word of those that are free again. */
  connections: Pick<Dispatcher, 'placesAt' | 'onPlace' | 'onReturn'>
  node(): number
  account(id: AccountId): AccountSnapshot | null | Promise<AccountSnapshot | null>
}

/** Lanes taken in one step. */
const CLAIMED_AT_ONCE = 500
/** Without word of a change, a look at the lanes that others left; in ms. */
const CLAIM_EVERY_MS = 2_000
/** Without word of a change, a look at all jobs of this node's lanes, and a note of how far they are. */
const REFRESH_EVERY_MS = 5_000
/** Jobs whose rows are fetched in one step, and accounts that are brought in step in one: others have their turn in between. */
const FETCHED_AT_ONCE = 8
const IN_STEP_AT_ONCE = 50
/** Rows on their way to be messages at once: an accept of some fifty, and those that gather meanwhile. More make each accept longer and none cheaper. */
const ROWS_AT_ONCE = 96
/** Rows of a second, of all lanes, that may go one by one: with 10,000 each of them would cost an eighth more. */
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
  const lost = new Set<AccountId>()
  /** How the store knows the jobs of an account. */
  const noted = new Map<AccountId, Map<JobRef['id'], string>>()
  const fetches = createBatcher<RowRequest, StoredRow[]>({
    flush: asks => readPendingRows(db, asks),
    maxItems: FETCHED_AT_ONCE,
    maxFlights: 2,
  })
  const failures = createBatcher<FailedRow, boolean>({
    flush: rows => failRows(db, deps.node(), clock.now(), rows),
  })
  const room = createBulkRoom(deps.connections.placesAt)
  deps.connections.onPlace(room.freed)
  deps.connections.onReturn(({ accountId, bulkJobId }, returning) => {
    const lane = lanes.get(accountId)
    if (lane) lane.comeBack(bulkJobId, returning)
    else returning.later()
  })
  /** Rows that each lane has due in a second, and their sum. */
  const due = new Map<AccountId, number>()
  let duePerSecond = 0
  let heldAs = deps.node()
  let nextClaimMs = Number.NEGATIVE_INFINITY
  let nextRefreshMs = Number.NEGATIVE_INFINITY
  let stopped = false

  const laneDeps: BulkLaneDeps = {
    ...deps,
    gate: createBulkGate({ clock, places: ROWS_AT_ONCE, duePerSecond: () => duePerSecond }),
    room,
    isCrowded: () => duePerSecond > CROWDED_PER_SECOND,
    fetch: ask => fetches.add(ask),
    fail: row => failures.add(row),
    pause: (job, why) => pauseBySystem(db, job, why),
    lost: accountId => void lost.add(accountId),
    moved: accountId => void dirty.add(accountId),
  }

  async function round(): Promise<void> {
    if (stopped) return
    await leaveLost()
    await claim()
    await refresh()
    await leaveIdle()
  }

  /** With the node's lease all of its lanes are gone; and some are others' for another reason. */
  async function leaveLost(): Promise<void> {
    if (deps.node() !== heldAs) {
      for (const accountId of lanes.keys()) lost.add(accountId)
      heldAs = deps.node()
    }
    const gone = [...lost]
    await leave(gone)
    // What was lost meanwhile is left in the next round: its job would stand still for ever.
    for (const accountId of gone) lost.delete(accountId)
  }

  async function claim(): Promise<void> {
    if (clock.monotonic() < nextClaimMs) return
    const leases = await claimLanes(db, heldAs, CLAIMED_AT_ONCE, [...lanes.keys()])
    nextClaimMs = leases.length < CLAIMED_AT_ONCE ? clock.monotonic() + CLAIM_EVERY_MS : nextClaimMs
    for (const lease of leases) {
      lanes.set(lease.accountId, createBulkLane(lease, laneDeps))
      dirty.add(lease.accountId)
    }
  }

  async function refresh(): Promise<void> {
    if (clock.monotonic() >= nextRefreshMs) {
      nextRefreshMs = clock.monotonic() + REFRESH_EVERY_MS
      for (const accountId of lanes.keys()) dirty.add(accountId)
    }
    const changed = [...dirty].filter(accountId => lanes.has(accountId))
    for (let at = 0; at < changed.length; at += IN_STEP_AT_ONCE) {
      const some = changed.slice(at, at + IN_STEP_AT_ONCE)
      for (const accountId of some) dirty.delete(accountId)
      try {
        await bringInStep(some)
      } catch (error) {
        for (const accountId of some) dirty.add(accountId)
        throw error
      }
    }
    for (const accountId of dirty) if (!lanes.has(accountId)) dirty.delete(accountId)
  }

  /** Whose turn it is is written down before anything is handed over by it. */
  async function bringInStep(accountIds: readonly AccountId[]): Promise<void> {
    const jobs = Map.groupBy(await listSending(db, accountIds), job => job.accountId)
    for (const accountId of accountIds) await update(accountId, jobs.get(accountId) ?? [])
    const turns = accountIds.flatMap(accountId => lanes.get(accountId)?.turns() ?? [])
    const news = turns.filter(turn => noted.get(turn.accountId)?.get(turn.id) !== standOf(turn))
    await storeTurns(db, news, clock.now())
    for (const turn of news) noted.get(turn.accountId)?.set(turn.id, standOf(turn))
    for (const accountId of accountIds) lanes.get(accountId)?.run()
  }

  async function update(accountId: AccountId, jobs: readonly SendingJob[]): Promise<void> {
    const account = await deps.account(accountId)
    if (account) lanes.get(accountId)?.update(jobs, account)
    noteDue(accountId)
    // What was written by others, or undone by a pause, is written anew.
    noted.set(accountId, new Map(jobs.map(job => [job.id, standOf(job)])))
  }

  function noteDue(accountId: AccountId): void {
    duePerSecond -= due.get(accountId) ?? 0
    due.delete(accountId)
    const ofLane = lanes.get(accountId)?.duePerSecond() ?? 0
    if (ofLane === 0) return
    due.set(accountId, ofLane)
    duePerSecond += ofLane
  }

  async function leaveIdle(): Promise<void> {
    const idle = [...lanes.values()].filter(lane => lane.isIdle())
    await leave(idle.map(lane => lane.accountId))
  }

  async function leave(accountIds: readonly AccountId[]): Promise<void> {
    const left = accountIds.filter(accountId => lanes.has(accountId))
    await Promise.all(left.map(accountId => lanes.get(accountId)!.stop()))
    for (const accountId of left) {
      lanes.delete(accountId)
      noted.delete(accountId)
      noteDue(accountId)
    }
    await releaseLanes(db, heldAs, left)
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
      await releaseLanes(db, heldAs, [...lanes.keys()]).catch(() => {})
      lanes.clear()
    },
  }
}

function standOf({ status, handedBelow }: { status: string; handedBelow: number }): string {
  return `${status} ${handedBelow}`
}

import type { AccountSnapshot } from '../contract/caller.ts'
import type { JobRef } from '../core/bulk/job.ts'
import type { LaneLease, PauseCause, SendingJob } from '../core/bulk/lane-store.ts'
import type { RowRequest, StoredRow } from '../core/bulk/row-store.ts'
import { type Cancel, pause } from '../lib/clock.ts'
import type { AccountId } from '../lib/ids.ts'
import { createSlidingWindow } from '../lib/sliding-window.ts'
import { createArrivals } from './bulk-arrivals.ts'
import type { BulkGate } from './bulk-gate.ts'
import { createHandOver, type HandOverDeps, MAX_THROTTLE_WAIT_MS, RETRY_MS } from './bulk-hand-over.ts'
import {
  addFetchedRows,
  createJobState,
  handedBelow,
  isConnectionUnknown,
  isHandedOver,
  type JobState,
  type PendingRow,
  requeueRow,
  restartReading,
  WINDOW_MS,
} from './bulk-job.ts'
import { createReturns, type Returning } from './bulk-returns.ts'
import type { BulkSlots } from './bulk-slots.ts'

/** An account's lane, as long as this node holds it: its jobs share the ceiling in the order of their creation. */
export type BulkLane = {
  accountId: AccountId
  fence: number
  /** Its jobs as the store has them now, oldest first, and the account. */
  update(jobs: readonly SendingJob[], account: AccountSnapshot): void
  /** Hands over the rows that may go now, and plans its next run. */
  run(): void
  /** Takes a message of one of its jobs that is to be sent again: in its turn, before new rows. */
  addReturning(id: JobRef['id'], returning: Returning): void
  /** How many rows it has due per second. */
  duePerSecond(): number
  /** The state of its jobs, to be stored. */
  jobStates(): (JobRef & { status: 'queued' | 'running'; handedBelow: number })[]
  /** Whether it has nothing to do, and no row that has yet to be sent. */
  isIdle(): boolean
  /** Hands over no further rows; resolves when none is in progress. */
  stop(): Promise<void>
}

export type BulkLaneDeps = HandOverDeps & {
  gate: BulkGate
  slots: BulkSlots
  /** Whether so many rows are due that those of a lane are sent together, which is less work. */
  isCrowded(): boolean
  /** The next rows without an outcome. */
  fetch(ask: RowRequest): Promise<StoredRow[]>
  pause(job: JobRef, why: PauseCause): Promise<void>
}

/** Rows are fetched for some seconds at once. */
const FETCH_SECONDS = 5
/**
 * The rows of a job are spread over this share of a second. Rows that were sent in one burst could arrive together with
 * those of the next second if they were slower than these. The rest of the second makes up for delays.
 */
const SPREAD_SHARE = 0.9
/** Where the rows of a lane are sent together, the first ones wait this long for the next, in ms; otherwise they would stay apart. */
const GROUP_MS = 50
/** So long after a lane was left, the rows that were sent from it no longer count. */
export const TAKEOVER_WAIT_MS = WINDOW_MS + 500

/** Sends nothing before `opensAtMs`, of the monotonic clock. */
export function createBulkLane(lease: LaneLease, opensAtMs: number, deps: BulkLaneDeps): BulkLane {
  const { clock } = deps
  const { accountId, fence } = lease
  const jobs = new Map<JobRef['id'], JobState>()
  /** In the order of creation. */
  let order: JobState[] = []
  let account: AccountSnapshot | null = null
  let ceiling = 0
  const window = createSlidingWindow(clock, 0, WINDOW_MS)
  const arrivals = createArrivals(clock, deps.isCrowded)
  const returns = createReturns()
  let rowsInProgress = 0
  let onDrained: (() => void) | null = null
  let stopped = false
  let isRunScheduled = false
  let cancelNext: Cancel = () => {}
  const send = createHandOver(lease, deps, {
    pauseJob,
    delayJob,
    setHasConnection,
  })

  function update(sending: readonly SendingJob[], snapshot: AccountSnapshot): void {
    account = snapshot
    ceiling = snapshot.status === 'active' ? snapshot.plan.bulkCeilingPerSecond : 0
    window.resize(ceiling)
    const before = new Set(order)
    order = sending.map(job => {
      const known = jobs.get(job.id)
      if (!known) return addJob(createJobState(clock, job))
      if (!before.has(known)) restartReading(known, job.handedBelow)
      if (!before.has(known) || known.paused) Object.assign(known, { halted: false, paused: false })
      known.job = job
      return known
    })
    for (const [id, known] of jobs) {
      // The rows that it sent last still count if it was paused and resumes within the second.
      const over = known.inFlight.length === 0 && known.window.isUnused()
      if (over && !order.includes(known)) jobs.delete(id)
    }
  }

  function addJob(known: JobState): JobState {
    jobs.set(known.job.id, known)
    return known
  }

  // --- dealing --------------------------------------------------------------------

  function run(): void {
    isRunScheduled = false
    cancelNext()
    if (stopped || !account) return
    const closedMs = opensAtMs - clock.monotonic()
    if (closedMs > 0) {
      runIn(closedMs)
      return
    }
    returns.serve(returnVerdict, known => takeSlots(known).leaving)
    const returning = new Set(returns.waiting())
    const shares = shareCeiling()
    let isAdmitted = false
    for (const { known, share } of shares) {
      // A job without a share hands over only messages that are sent again.
      known.window.resize(share || known.job.perSecond!)
      if (!mayHandOver({ known, share }) || returning.has(known)) continue
      while (isDue(known) && freeInMs(known, isAdmitted) === 0 && hasFreeSlot(known)) {
        if (!deps.gate.tryEnter(isAdmitted)) {
          deps.gate.wait(run)
          return
        }
        isAdmitted = true
        if (!deps.isCrowded())
          known.nextMs = clock.monotonic() + (SPREAD_SHARE * WINDOW_MS) / Math.max(1, share)
        void handOver(known, known.waiting.shift()!)
      }
      refill(known)
    }
    scheduleNextRun(shares, returning)
  }

  function addReturning(id: JobRef['id'], returning: Returning): void {
    const known = jobs.get(id)
    if (!known || returnVerdict(known) === 'later') returning.defer()
    else returns.add(known, returning, Math.min(ceiling, known.job.perSecond!))
    runSoon()
  }

  /** Independent of its share: the row has had its turn before. */
  function returnVerdict(known: JobState): 'go' | 'wait' | 'later' {
    if (stopped || ceiling === 0 || !order.includes(known)) return 'later'
    return freeInMs(known, true) === 0 ? 'go' : 'wait'
  }

  /** When a row of it may go by its own rate and the account's, or together with others of its second; in ms from now. */
  function freeInMs(known: JobState, isAdmitted = false): number {
    const togetherMs = deps.isCrowded() && !isAdmitted ? GROUP_MS : 0
    return Math.max(window.freeInMs(togetherMs), known.window.freeInMs(togetherMs))
  }

  function isDue({ waiting, nextMs }: JobState): boolean {
    return waiting.length > 0 && clock.monotonic() >= nextMs
  }

  /** Where there is none the job waits for it; other jobs of the lane may use other connections. */
  function hasFreeSlot(known: JobState): boolean {
    if (known.waitsForSlot || isConnectionUnknown(known)) return false
    const { lastConnectionId } = known
    if (!lastConnectionId || deps.slots.hasFreeSlot(lastConnectionId)) return true
    known.waitsForSlot = true
    deps.slots.wait(lastConnectionId, () => {
      known.waitsForSlot = false
      run()
    })
    return false
  }

  /** Divides the ceiling in the order of creation: each job gets its own rate, or what is left. */
  function shareCeiling(): JobShare[] {
    let left = ceiling
    return order.map(known => {
      const asks = !known.hasNoConnection && !isHandedOver(known)
      const share = asks ? Math.min(known.job.perSecond!, left) : 0
      left -= share
      return { known, share }
    })
  }

  /** A job whose connections are disabled tries a row when its wait is over. */
  function mayHandOver({ known, share }: JobShare): boolean {
    return !known.halted && (share > 0 || known.hasNoConnection)
  }

  /** Plans the next run for when the first of the waiting rows may go. */
  function scheduleNextRun(shares: readonly JobShare[], returning: ReadonlySet<JobState>): void {
    let nextMs = Number.POSITIVE_INFINITY
    for (const known of returning) nextMs = Math.min(nextMs, freeInMs(known, true))
    for (const { known, share } of shares) {
      if (!mayHandOver({ known, share }) || known.waiting.length === 0 || returning.has(known)) continue
      if (known.waitsForSlot || isConnectionUnknown(known)) continue
      const dueMs = known.nextMs - clock.monotonic()
      nextMs = Math.min(nextMs, Math.max(freeInMs(known), dueMs))
    }
    if (Number.isFinite(nextMs)) runIn(nextMs)
  }

  function runIn(delayMs: number): void {
    cancelNext()
    cancelNext = clock.after(Math.max(1, Math.ceil(delayMs)), run)
  }

  /** Once for everything that happens in the same turn of the event loop. */
  function runSoon(): void {
    if (isRunScheduled) return
    isRunScheduled = true
    setImmediate(run)
  }

  function refill(known: JobState): void {
    const { job, waiting } = known
    if (known.fetching || known.cursor >= job.total || waiting.length >= job.perSecond!) return
    known.fetching = true
    const { readGeneration } = known
    deps
      .fetch({ accountId, id: job.id, from: known.cursor, limit: job.perSecond! * FETCH_SECONDS })
      .then(
        rows => {
          if (known.readGeneration === readGeneration) addFetchedRows(known, rows)
        },
        error => {
          deps.log.debug({ err: error, jobId: job.id }, 'rows of a bulk job could not be read')
          return pause(clock, RETRY_MS)
        },
      )
      .finally(() => {
        known.fetching = false
        runSoon()
      })
  }

  // --- one row ----------------------------------------------------------------------

  async function handOver(known: JobState, row: PendingRow): Promise<void> {
    rowsInProgress++
    known.inFlight.push(row.n)
    const turn = takeSlots(known)
    const placed = deps.slots.reserve(known.lastConnectionId ?? null)
    const done = await send(known, row, account!, { slotTaken: placed, leaving: turn.leaving })
    placed()
    if (done !== 'sent') turn.back()
    if (done === 'again') requeueRow(known, row)
    // If the lane is no longer this node's, the row keeps its place, so that it does not count as done.
    if (done !== 'lost') known.inFlight.splice(known.inFlight.indexOf(row.n), 1)
    if (isHandedOver(known)) deps.onJobChanged(accountId)
    rowsInProgress--
    deps.gate.leave(done === 'sent')
    if (rowsInProgress === 0) onDrained?.()
    runSoon()
  }

  /** Takes a slot of the account and of the job, which is free again one window after the row arrived at its provider. */
  function takeSlots(known: JobState) {
    const windows = [window, known.window]
    let isOver = false
    for (const each of windows) each.reserve()
    function used(atMs?: number): void {
      if (isOver) return
      isOver = true
      for (const each of windows) each.recordUse(atMs)
      runSoon()
    }
    return {
      leaving: { ...arrivals.follow(used), throttled: (forMs: number) => onThrottled(known, forMs) },
      back() {
        if (isOver) return
        isOver = true
        for (const each of windows) each.release()
      },
    }
  }

  /**
   * A row or a message of the job was throttled. Its next row may be due only when the wait is over, and would not
   * notice it.
   */
  function onThrottled(known: JobState, forMs: number): void {
    if (forMs < MAX_THROTTLE_WAIT_MS || stopped || !order.includes(known)) return
    pauseJob(known, { reason: 'provider_rate_limit', untilMs: clock.now() + forMs })
  }

  function pauseJob(known: JobState, why: PauseCause): void {
    if (known.halted) return
    known.halted = true
    deps.pause(known.job, why).then(
      () => {
        known.paused = true
        deps.onJobChanged(accountId)
      },
      () => delayJob(known, RETRY_MS),
    )
  }

  function delayJob(known: JobState, forMs: number): void {
    known.halted = true
    clock.after(Math.max(1, forMs), () => {
      // Unless it was paused meanwhile: then the database says when it resumes.
      if (!known.paused) known.halted = false
      run()
    })
  }

  /** Records whether the job has an enabled connection; while it has none, other jobs of the account get its share. */
  function setHasConnection(known: JobState, on: boolean): void {
    if (!on && !known.halted) delayJob(known, RETRY_MS)
    if (known.hasNoConnection === !on) return
    known.hasNoConnection = !on
    deps.onJobChanged(accountId)
  }

  // --- state of the jobs -----------------------------------------------------------------

  function jobStates(): ReturnType<BulkLane['jobStates']> {
    return shareCeiling().map(({ known, share }) => {
      // A job whose rows are all handed over waits for no turn, even if it was paused and resumed after that.
      const goesOn = share > 0 || isHandedOver(known)
      return {
        accountId,
        id: known.job.id,
        status: goesOn ? 'running' : 'queued',
        handedBelow: handedBelow(known),
      }
    })
  }

  return {
    accountId,
    fence,
    update,
    run,
    addReturning,
    duePerSecond: () => shareCeiling().reduce((sum, { share }) => sum + share, 0),
    jobStates,
    // Not while rows are still to be sent, which only this node knows: the lane's next node would send its own at the same time.
    isIdle: () => order.length === 0 && rowsInProgress === 0 && !window.hasReserved(),
    async stop() {
      stopped = true
      cancelNext()
      returns.deferAll()
      if (rowsInProgress > 0) await new Promise<void>(resolve => (onDrained = resolve))
    },
  }
}

/** A job, and its part of the account's ceiling. */
type JobShare = { known: JobState; share: number }

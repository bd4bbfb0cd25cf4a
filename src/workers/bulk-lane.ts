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
  hasRowsForNow,
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
  /** Hands over no further rows; resolves when none is in progress, and none waits for its connection. */
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
  /** Returns messages of the job to the outbox that wait for their connection. */
  returnHeld(id: JobRef['id']): void
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
      const state = jobs.get(job.id)
      if (!state) return addJob(createJobState(clock, job))
      if (!before.has(state)) restartReading(state, job.handedBelow)
      if (!before.has(state) || state.paused) Object.assign(state, { halted: false, paused: false })
      state.job = job
      return state
    })
    for (const state of before) if (!order.includes(state)) returnHeld(state)
    for (const [id, state] of jobs) {
      // The rows that it sent last still count if it was paused and resumes within the second.
      const over = state.inFlight.length === 0 && state.window.isUnused()
      if (over && !order.includes(state)) jobs.delete(id)
    }
  }

  function addJob(state: JobState): JobState {
    jobs.set(state.job.id, state)
    return state
  }

  /**
   * A message that waits for its connection keeps its slot of the account's window, and would leave during the pause: a slow
   * or throttled connection would take the rate of other jobs for all that time.
   */
  function returnHeld(state: JobState): void {
    if (state.window.hasReserved()) deps.returnHeld(state.job.id)
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
    returns.serve(returnVerdict, state => takeSlots(state).leaving)
    const returning = new Set(returns.waiting())
    const shares = shareCeiling()
    let isAdmitted = false
    for (const { state, share } of shares) {
      // A job without a share hands over only messages that are sent again.
      state.window.resize(share || state.job.perSecond!)
      if (!mayHandOver({ state, share }) || returning.has(state)) continue
      while (isDue(state) && freeInMs(state, isAdmitted) === 0 && hasFreeSlot(state)) {
        if (!deps.gate.tryEnter(isAdmitted)) {
          deps.gate.wait(run)
          return
        }
        isAdmitted = true
        if (!deps.isCrowded())
          state.nextMs = clock.monotonic() + (SPREAD_SHARE * WINDOW_MS) / Math.max(1, share)
        void handOver(state, state.waiting.shift()!)
      }
      refill(state)
    }
    scheduleNextRun(shares, returning)
  }

  function addReturning(id: JobRef['id'], returning: Returning): void {
    const state = jobs.get(id)
    if (!state || returnVerdict(state) === 'later') returning.defer()
    else returns.add(state, returning, Math.min(ceiling, state.job.perSecond!))
    runSoon()
  }

  /** Independent of its share: the row has had its turn before. */
  function returnVerdict(state: JobState): 'go' | 'wait' | 'later' {
    if (stopped || ceiling === 0 || !order.includes(state)) return 'later'
    return freeInMs(state, true) === 0 ? 'go' : 'wait'
  }

  /** When a row of it may go by its own rate and the account's, or together with others of its second; in ms from now. */
  function freeInMs(state: JobState, isAdmitted = false): number {
    const togetherMs = deps.isCrowded() && !isAdmitted ? GROUP_MS : 0
    return Math.max(window.freeInMs(togetherMs), state.window.freeInMs(togetherMs))
  }

  function isDue({ waiting, nextMs }: JobState): boolean {
    return waiting.length > 0 && clock.monotonic() >= nextMs
  }

  /** Where there is none the job waits for it; other jobs of the lane may use other connections. */
  function hasFreeSlot(state: JobState): boolean {
    if (state.waitsForSlot || isConnectionUnknown(state)) return false
    const { lastConnectionId } = state
    if (!lastConnectionId || deps.slots.hasFreeSlot(lastConnectionId)) return true
    state.waitsForSlot = true
    deps.slots.wait(lastConnectionId, () => {
      state.waitsForSlot = false
      run()
    })
    return false
  }

  /** Divides the ceiling in the order of creation: each job gets its own rate, or what is left. */
  function shareCeiling(): JobShare[] {
    let left = ceiling
    return order.map(state => {
      const needsShare = !state.hasNoConnection && !isHandedOver(state)
      const share = needsShare ? Math.min(state.job.perSecond!, left) : 0
      left -= share
      return { state, share }
    })
  }

  /** A job whose connections are disabled tries a row when its wait is over. */
  function mayHandOver({ state, share }: JobShare): boolean {
    return !state.halted && (share > 0 || state.hasNoConnection)
  }

  /** Plans the next run for when the first of the waiting rows may go. */
  function scheduleNextRun(shares: readonly JobShare[], returning: ReadonlySet<JobState>): void {
    let nextMs = Number.POSITIVE_INFINITY
    for (const state of returning) nextMs = Math.min(nextMs, freeInMs(state, true))
    for (const { state, share } of shares) {
      if (!mayHandOver({ state, share }) || state.waiting.length === 0 || returning.has(state)) continue
      if (state.waitsForSlot || isConnectionUnknown(state)) continue
      const dueMs = state.nextMs - clock.monotonic()
      nextMs = Math.min(nextMs, Math.max(freeInMs(state), dueMs))
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

  function refill(state: JobState): void {
    const { job } = state
    if (state.fetching || state.cursor >= job.total || hasRowsForNow(state)) return
    state.fetching = true
    const { readGeneration } = state
    deps
      .fetch({ accountId, id: job.id, from: state.cursor, limit: job.perSecond! * FETCH_SECONDS })
      .then(
        rows => {
          if (state.readGeneration === readGeneration) addFetchedRows(state, rows)
        },
        error => {
          deps.log.debug({ err: error, jobId: job.id }, 'rows of a bulk job could not be read')
          return pause(clock, RETRY_MS)
        },
      )
      .finally(() => {
        state.fetching = false
        runSoon()
      })
  }

  // --- one row ----------------------------------------------------------------------

  async function handOver(state: JobState, row: PendingRow): Promise<void> {
    rowsInProgress++
    state.inFlight.push(row.n)
    const turn = takeSlots(state)
    const placed = deps.slots.reserve(state.lastConnectionId ?? null)
    const done = await send(state, row, account!, { slotTaken: placed, leaving: turn.leaving })
    placed()
    if (done !== 'sent') turn.back()
    if (done === 'again') requeueRow(state, row)
    // If the lane is no longer this node's, the row keeps its place, so that it does not count as done.
    if (done !== 'lost') state.inFlight.splice(state.inFlight.indexOf(row.n), 1)
    if (isHandedOver(state)) deps.onJobChanged(accountId)
    // It was paused or cancelled meanwhile.
    if (!order.includes(state)) returnHeld(state)
    rowsInProgress--
    deps.gate.leave(done === 'sent')
    if (rowsInProgress === 0) onDrained?.()
    runSoon()
  }

  /** Takes a slot of the account and of the job, which is free again one window after the row arrived at its provider. */
  function takeSlots(state: JobState) {
    const windows = [window, state.window]
    let isOver = false
    for (const each of windows) each.reserve()
    function used(atMs?: number): void {
      if (isOver) return
      isOver = true
      for (const each of windows) each.recordUse(atMs)
      runSoon()
    }
    return {
      leaving: { ...arrivals.follow(used), throttled: (forMs: number) => onThrottled(state, forMs) },
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
  function onThrottled(state: JobState, forMs: number): void {
    if (forMs < MAX_THROTTLE_WAIT_MS || stopped || !order.includes(state)) return
    pauseJob(state, { reason: 'provider_rate_limit', untilMs: clock.now() + forMs })
  }

  function pauseJob(state: JobState, why: PauseCause): void {
    if (state.halted) return
    state.halted = true
    deps.pause(state.job, why).then(
      () => {
        state.paused = true
        deps.onJobChanged(accountId)
      },
      () => delayJob(state, RETRY_MS),
    )
  }

  function delayJob(state: JobState, forMs: number): void {
    state.halted = true
    clock.after(Math.max(1, forMs), () => {
      // Unless it was paused meanwhile: then the database says when it resumes.
      if (!state.paused) state.halted = false
      run()
    })
  }

  /** Records whether the job has an enabled connection; while it has none, other jobs of the account get its share. */
  function setHasConnection(state: JobState, on: boolean): void {
    if (!on && !state.halted) delayJob(state, RETRY_MS)
    if (state.hasNoConnection === !on) return
    state.hasNoConnection = !on
    deps.onJobChanged(accountId)
  }

  // --- state of the jobs -----------------------------------------------------------------

  function jobStates(): ReturnType<BulkLane['jobStates']> {
    return shareCeiling().map(({ state, share }) => {
      // A job whose rows are all handed over waits for no turn, even if it was paused and resumed after that.
      const goesOn = share > 0 || isHandedOver(state)
      return {
        accountId,
        id: state.job.id,
        status: goesOn ? 'running' : 'queued',
        handedBelow: handedBelow(state),
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
      // They would leave beside the rows of whoever takes the lane next, who does not know of them.
      for (const state of jobs.values()) returnHeld(state)
    },
  }
}

/** A job, and its part of the account's ceiling. */
type JobShare = { state: JobState; share: number }

import type { AccountSnapshot } from '../contract/caller.ts'
import type { JobRef } from '../core/bulk/job.ts'
import type { LaneLease, PauseCause, SendingJob } from '../core/bulk/lane-store.ts'
import type { RowRequest, StoredRow } from '../core/bulk/row-store.ts'
import { type Cancel, pause } from '../lib/clock.ts'
import type { AccountId } from '../lib/ids.ts'
import { createSlidingWindow } from '../lib/sliding-window.ts'
import { createArrivals } from './bulk-arrivals.ts'
import type { BulkGate } from './bulk-gate.ts'
import { createHandOver, type HandOverDeps, RETRY_MS } from './bulk-hand-over.ts'
import {
  createJobInHand,
  handedBelow,
  isFindingItsWay,
  isHandedOver,
  type JobInHand,
  putBack,
  type RowInHand,
  readAnew,
  takeRows,
  WINDOW_MS,
} from './bulk-job.ts'
import { createReturns, type Returning } from './bulk-returns.ts'
import type { BulkRoom } from './bulk-room.ts'

/** An account's lane, as long as this node holds it: its jobs share the ceiling in the order of their creation. */
export type BulkLane = {
  accountId: AccountId
  /** Its jobs as the store has them now, oldest first, and the account. */
  update(jobs: readonly SendingJob[], account: AccountSnapshot): void
  /** Hands over what may go now, and goes on by itself. */
  run(): void
  /** A message of one of its jobs that is to leave again: in its turn, before the rows that never left. */
  comeBack(id: JobRef['id'], returning: Returning): void
  /** Rows that it has due in a second. */
  duePerSecond(): number
  /** How its jobs stand, to be written down. */
  turns(): (JobRef & { status: 'queued' | 'running'; handedBelow: number })[]
  /** Nothing to do, and nothing that has not left yet. */
  isIdle(): boolean
  /** Hands nothing over any more; resolves when nothing is under way. */
  stop(): Promise<void>
}

export type BulkLaneDeps = HandOverDeps & {
  gate: BulkGate
  room: BulkRoom
  /** So many rows are due that each lane's go together, which is less work for all. */
  isCrowded(): boolean
  /** The next rows without an outcome. */
  fetch(ask: RowRequest): Promise<StoredRow[]>
  pause(job: JobRef, why: PauseCause): Promise<void>
}

/** Rows are fetched for some seconds at once. */
const FETCH_SECONDS = 5
/**
 * Over so much of a second the rows of a job are spread. Those that leave in one burst arrive with the
 * next second's where they took longer than these; the rest makes up for what came late.
 */
const SPREAD = 0.9
/** Where rows go together, those that may go wait so long for the next one that may, in ms: apart they would stay apart. */
const TOGETHER_MS = 50
/** The rows that another node handed over last are as old as that by the time this one begins. */
const TAKE_OVER_MS = WINDOW_MS + 500

export function createBulkLane(lease: LaneLease, deps: BulkLaneDeps): BulkLane {
  const { clock } = deps
  const { accountId, fence } = lease
  const jobs = new Map<JobRef['id'], JobInHand>()
  /** In the order of creation. */
  let order: JobInHand[] = []
  let account: AccountSnapshot | null = null
  let ceiling = 0
  const window = createSlidingWindow(clock, 0, WINDOW_MS)
  // The first one to hold the lane need not wait for anybody's last rows.
  const opensAtMs = clock.monotonic() + (fence > 1 ? TAKE_OVER_MS : 0)
  const arrivals = createArrivals(clock, deps.isCrowded)
  const returns = createReturns()
  let underWay = 0
  let landed: (() => void) | null = null
  let stopped = false
  let planned = false
  let cancelNext: Cancel = () => {}
  const send = createHandOver(lease, deps, { halt, haltFor, switched })

  function update(sending: readonly SendingJob[], snapshot: AccountSnapshot): void {
    account = snapshot
    ceiling = snapshot.status === 'active' ? snapshot.plan.bulkCeilingPerSecond : 0
    window.resize(ceiling)
    const before = new Set(order)
    order = sending.map(job => {
      const known = jobs.get(job.id)
      if (!known) return keep(createJobInHand(clock, job))
      if (!before.has(known)) readAnew(known, job.handedBelow)
      if (!before.has(known) || known.paused) Object.assign(known, { halted: false, paused: false })
      known.job = job
      return known
    })
    for (const [id, known] of jobs) {
      // What it sent last counts, should it be paused and come back within the second.
      const over = known.inFlight.length === 0 && known.window.isUnused()
      if (over && !order.includes(known)) jobs.delete(id)
    }
  }

  function keep(known: JobInHand): JobInHand {
    jobs.set(known.job.id, known)
    return known
  }

  // --- dealing --------------------------------------------------------------------

  function run(): void {
    planned = false
    cancelNext()
    if (stopped || !account) return
    const closedMs = opensAtMs - clock.monotonic()
    if (closedMs > 0) {
      wakeIn(closedMs)
      return
    }
    returns.serve(mayReturn, known => takeTurn(known).leaving)
    const returning = new Set(returns.waiting())
    const dealt = deal()
    let isIn = false
    for (const { known, share } of dealt) {
      // One that has no share has nothing to hand over but what comes back.
      known.window.resize(share || known.job.perSecond!)
      if (!hasTurn({ known, share }) || returning.has(known)) continue
      while (isDue(known) && freeInMs(known, isIn) === 0 && hasRoom(known)) {
        if (!deps.gate.tryEnter(isIn)) {
          deps.gate.wait(run)
          return
        }
        isIn = true
        if (!deps.isCrowded()) known.nextMs = clock.monotonic() + (SPREAD * WINDOW_MS) / Math.max(1, share)
        void handOver(known, known.waiting.shift()!)
      }
      refill(known)
    }
    planNext(dealt, returning)
  }

  function comeBack(id: JobRef['id'], returning: Returning): void {
    const known = jobs.get(id)
    if (!known || mayReturn(known) === 'later') returning.later()
    else returns.add(known, returning, Math.min(ceiling, known.job.perSecond!))
    runSoon()
  }

  /** Whatever its share is: it was its row's turn before. */
  function mayReturn(known: JobInHand): 'go' | 'wait' | 'later' {
    if (stopped || ceiling === 0 || !order.includes(known)) return 'later'
    return freeInMs(known, true) === 0 ? 'go' : 'wait'
  }

  /** When a row of it may go by its own rate and by the account's, or together with others of its second; in ms from now. */
  function freeInMs(known: JobInHand, isIn = false): number {
    const togetherMs = deps.isCrowded() && !isIn ? TOGETHER_MS : 0
    return Math.max(window.freeInMs(togetherMs), known.window.freeInMs(togetherMs))
  }

  function isDue({ waiting, nextMs }: JobInHand): boolean {
    return waiting.length > 0 && clock.monotonic() >= nextMs
  }

  /** Where there is none the job waits for it; other jobs of the lane may go elsewhere. */
  function hasRoom(known: JobInHand): boolean {
    if (known.waitsForRoom || isFindingItsWay(known)) return false
    const { towards } = known
    if (!towards || deps.room.isAt(towards)) return true
    known.waitsForRoom = true
    deps.room.wait(towards, () => {
      known.waitsForRoom = false
      run()
    })
    return false
  }

  /** The ceiling, in the order of creation: each gets its own rate, or what is left. */
  function deal(): Dealt[] {
    let left = ceiling
    return order.map(known => {
      const asks = !known.switchedOff && !isHandedOver(known)
      const share = asks ? Math.min(known.job.perSecond!, left) : 0
      left -= share
      return { known, share }
    })
  }

  /** One whose connections are switched off tries a row when its wait is over. */
  function hasTurn({ known, share }: Dealt): boolean {
    return !known.halted && (share > 0 || known.switchedOff)
  }

  /** When the first of the waiting rows may go, should nothing happen before. */
  function planNext(dealt: readonly Dealt[], returning: ReadonlySet<JobInHand>): void {
    let nextMs = Number.POSITIVE_INFINITY
    for (const known of returning) nextMs = Math.min(nextMs, freeInMs(known, true))
    for (const { known, share } of dealt) {
      if (!hasTurn({ known, share }) || known.waiting.length === 0 || returning.has(known)) continue
      if (known.waitsForRoom || isFindingItsWay(known)) continue
      const dueMs = known.nextMs - clock.monotonic()
      nextMs = Math.min(nextMs, Math.max(freeInMs(known), dueMs))
    }
    if (Number.isFinite(nextMs)) wakeIn(nextMs)
  }

  function wakeIn(delayMs: number): void {
    cancelNext()
    cancelNext = clock.after(Math.max(1, Math.ceil(delayMs)), run)
  }

  /** Once for all that happens in the same turn. */
  function runSoon(): void {
    if (planned) return
    planned = true
    setImmediate(run)
  }

  function refill(known: JobInHand): void {
    const { job, waiting } = known
    if (known.fetching || known.cursor >= job.total || waiting.length >= job.perSecond!) return
    known.fetching = true
    const { reading } = known
    deps
      .fetch({ accountId, id: job.id, from: known.cursor, limit: job.perSecond! * FETCH_SECONDS })
      .then(
        rows => {
          if (known.reading === reading) takeRows(known, rows)
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

  async function handOver(known: JobInHand, row: RowInHand): Promise<void> {
    underWay++
    known.inFlight.push(row.n)
    const turn = takeTurn(known)
    const placed = deps.room.setOut(known.towards ?? null)
    const done = await send(known, row, account!, { placed, leaving: turn.leaving })
    placed()
    if (done !== 'sent') turn.back()
    if (done === 'again') putBack(known, row)
    // A row that is not ours to judge keeps its place: nobody may think that it is done.
    if (done !== 'lost') known.inFlight.splice(known.inFlight.indexOf(row.n), 1)
    if (isHandedOver(known)) deps.moved(accountId)
    underWay--
    deps.gate.leave(done === 'sent')
    if (underWay === 0) landed?.()
    runSoon()
  }

  /** A place of the account and of the job, which is free again a window after the row was at its provider. */
  function takeTurn(known: JobInHand) {
    const windows = [window, known.window]
    let isOver = false
    for (const each of windows) each.take()
    function used(atMs?: number): void {
      if (isOver) return
      isOver = true
      for (const each of windows) each.used(atMs)
      runSoon()
    }
    return {
      leaving: arrivals.follow(used),
      back() {
        if (isOver) return
        isOver = true
        for (const each of windows) each.back()
      },
    }
  }

  function halt(known: JobInHand, why: PauseCause): void {
    if (known.halted) return
    known.halted = true
    deps.pause(known.job, why).then(
      () => {
        known.paused = true
        deps.moved(accountId)
      },
      () => haltFor(known, RETRY_MS),
    )
  }

  function haltFor(known: JobInHand, forMs: number): void {
    known.halted = true
    clock.after(Math.max(1, forMs), () => {
      // Unless it was paused meanwhile: then the store says when it goes on.
      if (!known.paused) known.halted = false
      run()
    })
  }

  /** Others of the account have its share meanwhile. */
  function switched(known: JobInHand, on: boolean): void {
    if (!on && !known.halted) haltFor(known, RETRY_MS)
    if (known.switchedOff === !on) return
    known.switchedOff = !on
    deps.moved(accountId)
  }

  // --- how it stands -----------------------------------------------------------------

  function turns(): ReturnType<BulkLane['turns']> {
    return deal().map(({ known, share }) => {
      // One that is handed over waits for no turn, also where it was paused and resumed behind that.
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
    update,
    run,
    comeBack,
    duePerSecond: () => deal().reduce((sum, { share }) => sum + share, 0),
    turns,
    // Not while rows are still to leave, which is known here alone: the lane's next node would let its own leave with them.
    isIdle: () => order.length === 0 && underWay === 0 && !window.isTaken(),
    async stop() {
      stopped = true
      cancelNext()
      returns.drain()
      if (underWay > 0) await new Promise<void>(resolve => (landed = resolve))
    },
  }
}

/** A job, and its part of the account's ceiling. */
type Dealt = { known: JobInHand; share: number }

import type { LinkLog } from '../channels/provider.ts'
import type { AccountSnapshot } from '../contract/caller.ts'
import { Problem } from '../contract/errors.ts'
import type { BulkAcceptRow, BulkVerdict } from '../core/bulk/accept-store.ts'
import type { JobRef } from '../core/bulk/job.ts'
import type { FailedRow, LaneLease, SendingJob } from '../core/bulk/lane-store.ts'
import { type RowDeps, resolveRow, rowCaller } from '../core/bulk/row.ts'
import type { RowAsk, StoredRow } from '../core/bulk/row-store.ts'
import type { Accept } from '../core/messages/accept.ts'
import type { AcceptMessage } from '../core/messages/accept-message.ts'
import type { Prepared } from '../core/messages/prepare.ts'
import { DatabaseUnavailable } from '../infra/db.ts'
import { type Cancel, type Clock, pause } from '../lib/clock.ts'
import type { AccountId, ConnectionId, Ids, MessageId } from '../lib/ids.ts'
import { createSlidingWindow } from '../lib/sliding-window.ts'
import type { BulkGate } from './bulk-gate.ts'
import {
  createJobInHand,
  handedBelow,
  isHandedOver,
  type JobInHand,
  putBack,
  type RowInHand,
  WINDOW_MS,
} from './bulk-job.ts'

/** An account's lane, as long as this node holds it: its jobs share the ceiling in the order of their creation. */
export type BulkLane = {
  accountId: AccountId
  /** Its jobs as the store has them now, oldest first, and the account. */
  update(jobs: readonly SendingJob[], account: AccountSnapshot): void
  /** Hands over what may go now, and goes on by itself. */
  run(): void
  /** How its jobs stand, to be written down. */
  turns(): (JobRef & { status: 'queued' | 'running'; handedBelow: number })[]
  /** Nothing to do, and nothing under way. */
  isIdle(): boolean
  /** Hands nothing over any more; resolves when nothing is under way. */
  stop(): Promise<void>
}

export type BulkLaneDeps = {
  clock: Clock
  ids: Ids
  log: LinkLog
  /** What resolving a row needs. */
  rows: RowDeps
  gate: BulkGate
  acceptMessage: AcceptMessage
  accept: Accept<BulkAcceptRow, BulkVerdict>
  /** The next rows without an outcome. */
  fetch(ask: RowAsk): Promise<StoredRow[]>
  /** False when it was not ours to say. */
  fail(row: FailedRow): Promise<boolean>
  pause(job: JobRef, why: PauseWhy): Promise<void>
  /** The first attempt of a message was recorded when it was stored, and nobody has made it, nor will. */
  neverMade(message: { accountId: AccountId; id: MessageId; connectionId: ConnectionId }): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  restsUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** The store knows better: the lane is another node's, or what it knows of its jobs is wrong. */
  lost(accountId: AccountId): void
  /** A job has its share no longer, or is paused. */
  moved(accountId: AccountId): void
}

export type PauseWhy =
  | { reason: 'insufficient_balance'; amount: number; channel: string }
  | { reason: 'provider_rate_limit'; untilMs: number }

/** Rows are fetched for some seconds at once. */
const FETCH_SECONDS = 5
const RETRY_MS = 1_000
/**
 * A row counts from when its message was made, and as much later as its accept takes: but for a busy
 * machine, whose long accepts would cost every window their length.
 */
const MOST_ACCEPT_MS = 8
/** A rest that is shorter is waited for; a longer one is a pause. */
const SHORT_REST_MS = 1_000
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
  let underWay = 0
  let landed: (() => void) | null = null
  let stopped = false
  let planned = false
  let cancelNext: Cancel = () => {}

  function update(sending: readonly SendingJob[], snapshot: AccountSnapshot): void {
    account = snapshot
    ceiling = snapshot.status === 'active' ? snapshot.plan.bulkCeilingPerSecond : 0
    window.resize(ceiling)
    const before = new Set(order)
    order = sending.map(job => {
      const known = jobs.get(job.id)
      if (!known) return keep(createJobInHand(clock, job))
      // One that was paused meanwhile is read from where the store says.
      if (!before.has(known)) Object.assign(known, { waiting: [], cursor: job.handedBelow })
      if (!before.has(known) || known.paused) Object.assign(known, { halted: false, paused: false })
      known.job = job
      return known
    })
    for (const [id, known] of jobs) {
      // What it sent last counts, should it be paused and come back within the second.
      const over = known.inFlight.size === 0 && known.window.isUnused()
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
    const dealt = deal()
    for (const { known, share } of dealt) {
      if (share === 0 || known.halted) continue
      while (known.waiting.length > 0 && window.free() > 0 && known.window.free() > 0) {
        if (!deps.gate.tryEnter()) {
          deps.gate.wait(run)
          return
        }
        void handOver(known, known.waiting.shift()!)
      }
      refill(known)
    }
    planNext(dealt)
  }

  /** The ceiling, in the order of creation: each gets its own rate, or what is left. */
  function deal(): Dealt[] {
    let left = ceiling
    return order.map(known => {
      const share = isHandedOver(known) ? 0 : Math.min(known.job.perSecond!, left)
      left -= share
      return { known, share }
    })
  }

  /** When the first of the waiting rows may go, should nothing happen before. */
  function planNext(dealt: readonly Dealt[]): void {
    const accountMs = window.freeInMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const { known, share } of dealt) {
      if (share === 0 || known.halted || known.waiting.length === 0) continue
      nextMs = Math.min(nextMs, Math.max(accountMs, known.window.freeInMs()))
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
    deps
      .fetch({ accountId, id: job.id, from: known.cursor, limit: job.perSecond! * FETCH_SECONDS })
      .then(
        rows => take(known, rows),
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

  function take(known: JobInHand, rows: readonly StoredRow[]): void {
    known.cursor = rows.length === 0 ? known.job.total : rows.at(-1)!.n + 1
    known.waiting.push(...rows.filter(row => !known.inFlight.has(row.n)))
  }

  // --- one row ----------------------------------------------------------------------

  async function handOver(known: JobInHand, row: RowInHand): Promise<void> {
    underWay++
    known.inFlight.add(row.n)
    window.take()
    known.window.take()
    const done = await send(known, row).catch(error => noteTrouble(known, row, error))
    for (const each of [window, known.window]) {
      if (done === 'sent') each.used(Math.min(clock.monotonic(), row.leftMs! + MOST_ACCEPT_MS))
      else each.back()
    }
    if (done === 'again') putBack(known, row)
    // A row that is not ours to judge keeps its place: nobody may think that it is done.
    if (done !== 'lost') known.inFlight.delete(row.n)
    if (isHandedOver(known)) deps.moved(accountId)
    underWay--
    deps.gate.leave()
    if (underWay === 0) landed?.()
    runSoon()
  }

  async function send(known: JobInHand, row: RowInHand): Promise<Done> {
    const { live, keyId, id } = known.job
    const prepared = await resolveRow(row, id, rowCaller(account!, live, keyId), deps.rows)
    if (prepared instanceof Problem) return fail(known, row, prepared.code, prepared.message)
    if (rests(known, prepared)) return 'again'
    const retried = row.tried !== undefined
    row.tried ??= deps.ids.next('msg')
    row.leftMs = clock.monotonic()
    try {
      const verdict = await deps.acceptMessage<BulkVerdict>(row.tried, prepared, null, message => {
        row.begun = message.begun && row.begun !== false
        return deps.accept.add({ ...message, bulkJobId: id, n: row.n, fence, retried })
      })
      return await conclude(known, row, prepared, verdict)
    } catch (error) {
      // What it carries is gone: what was stored of it before, if anything, stays as it is.
      if (error instanceof Problem) return fail(known, row, error.code, error.message)
      throw error
    }
  }

  function conclude(
    known: JobInHand,
    row: RowInHand,
    { amount, channel, connectionId }: Prepared,
    verdict: BulkVerdict,
  ): Done | Promise<Done> {
    switch (verdict.kind) {
      case 'accepted':
        return 'sent'
      case 'known':
        if (row.begun) deps.neverMade({ accountId, id: row.tried!, connectionId })
        return 'sent'
      case 'insufficient':
        halt(known, { reason: 'insufficient_balance', amount, channel })
        return 'again'
      case 'later':
        return 'again'
      case 'over':
        known.halted = true
        deps.moved(accountId)
        return 'over'
      case 'stale':
        deps.lost(accountId)
        return 'lost'
      case 'faulty':
        deps.log.warn({ err: verdict.cause, jobId: known.job.id, row: row.n }, 'a bulk row cannot be stored')
        return fail(known, row, 'INTERNAL_ERROR', 'the message could not be stored')
      default:
        throw new Error(`a bulk row has no key, and yet it ${verdict.kind}`)
    }
  }

  async function fail(known: JobInHand, row: RowInHand, code: string, message: string): Promise<Done> {
    const ours = await deps.fail({ accountId, id: known.job.id, n: row.n, fence, code, message })
    if (ours) return 'failed'
    deps.lost(accountId)
    return 'lost'
  }

  /** A provider that asked for patience gets it. */
  function rests(known: JobInHand, { connectionId }: Prepared): boolean {
    const untilMs = deps.restsUntil(connectionId, accountId)
    const leftMs = untilMs - clock.now()
    if (leftMs <= 0) return false
    if (leftMs >= SHORT_REST_MS) halt(known, { reason: 'provider_rate_limit', untilMs })
    else haltFor(known, leftMs)
    return true
  }

  function halt(known: JobInHand, why: PauseWhy): void {
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
      known.halted = false
      run()
    })
  }

  function noteTrouble(known: JobInHand, row: RowInHand, error: unknown): Done {
    const level = error instanceof DatabaseUnavailable ? 'debug' : 'warn'
    deps.log[level](
      { err: error, jobId: known.job.id, row: row.n },
      'a bulk row was not handed over; it is tried again',
    )
    if (!known.halted) haltFor(known, RETRY_MS)
    return 'again'
  }

  // --- how it stands -----------------------------------------------------------------

  function turns(): ReturnType<BulkLane['turns']> {
    return deal().map(({ known, share }) => {
      const goesOn = share > 0 || (isHandedOver(known) && known.job.status === 'running')
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
    turns,
    isIdle: () => order.length === 0 && underWay === 0,
    async stop() {
      stopped = true
      cancelNext()
      if (underWay > 0) await new Promise<void>(resolve => (landed = resolve))
    },
  }
}

/** A job, and its part of the account's ceiling. */
type Dealt = { known: JobInHand; share: number }

/** What came of a hand-over. */
type Done = 'sent' | 'failed' | 'again' | 'over' | 'lost'

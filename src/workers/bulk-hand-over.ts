import type { AccountSnapshot } from '../contract/caller.ts'
import { Problem } from '../contract/errors.ts'
import type { BulkAcceptRow, BulkVerdict } from '../core/bulk/accept-store.ts'
import type { FailedRow, LaneLease, PauseCause } from '../core/bulk/lane-store.ts'
import { type RowDeps, resolveRow, rowCaller, waitsForConnection } from '../core/bulk/row.ts'
import type { Accept } from '../core/messages/accept.ts'
import type { AcceptMessage } from '../core/messages/accept-message.ts'
import type { AcceptRow } from '../core/messages/hot-store.ts'
import type { Prepared } from '../core/messages/prepare.ts'
import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import { DatabaseUnavailable } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId, Ids, MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { JobInHand, RowInHand } from './bulk-job.ts'

export type HandOverDeps = {
  clock: Clock
  ids: Ids
  log: Log
  /** What resolving a row needs. */
  rows: RowDeps
  acceptMessage: AcceptMessage
  accept: Accept<BulkAcceptRow, BulkVerdict>
  /** False where the lane is no longer this node's. */
  fail(row: FailedRow): Promise<boolean>
  /** The first attempt of a message was recorded when it was stored, but was not made, and will not be. */
  neverMade(message: { accountId: AccountId; id: MessageId; connectionId: ConnectionId }): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  restsUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** Whether the connection is a web session open on another node, which takes its messages from the outbox. */
  isElsewhere(accountId: AccountId, connectionId: ConnectionId): Promise<boolean>
  /** The lane has turned out to be another node's, or its state of its jobs to be outdated. */
  lost(accountId: AccountId): void
  /** A job has finished, was paused, or has lost its share of the ceiling. */
  moved(accountId: AccountId): void
}

/** What the lane does with a job whose row could not be sent. */
type Halts = {
  /** Pauses it in the database, until that says that it resumes. */
  halt(job: JobInHand, why: PauseCause): void
  haltFor(job: JobInHand, forMs: number): void
  /** Whether any of its rows' connections is enabled. */
  switched(job: JobInHand, on: boolean): void
}

/** The result of handing a row over. */
export type Done =
  | 'sent'
  | 'failed'
  /** It is to be retried, in its turn. */
  | 'again'
  /** Its job has ended. */
  | 'over'
  /** The lane is no longer this node's. */
  | 'lost'

/** The delay before a retry. */
export const RETRY_MS = 1_000
/** A throttled connection is waited for if it takes less than this; otherwise the job is paused. */
const SHORT_REST_MS = 1_000

/** Callbacks for the progress of one row. */
type OnItsWay = {
  /** The row has a slot of its connection, or waits for one there. */
  placed(): void
  leaving: SubmitCallbacks
}

/** Turns a row of a lane into its message; never rejects. */
export function createHandOver({ accountId, fence }: LaneLease, deps: HandOverDeps, lane: Halts) {
  const { clock } = deps

  async function send(
    known: JobInHand,
    row: RowInHand,
    account: AccountSnapshot,
    way: OnItsWay,
  ): Promise<Done> {
    const { live, keyId, id } = known.job
    const caller = rowCaller(account, live, keyId)
    const prepared = await resolveRow(row, id, caller, deps.rows)
    if (prepared instanceof Problem) {
      known.towards ??= null
      // Waits, as accepted messages do: a connection that was disabled may be enabled again.
      if (await waitsForConnection(prepared, row, id, caller, deps.rows)) {
        lane.switched(known, false)
        return 'again'
      }
      return fail(known, row, prepared.code, prepared.message)
    }
    lane.switched(known, true)
    if (rests(known, prepared) || (await isDown(known, prepared))) return 'again'
    known.towards = prepared.connectionId
    const retried = row.tried !== undefined
    row.tried ??= deps.ids.next('msg')
    try {
      const add = (message: AcceptRow) => {
        way.placed()
        row.begun = message.begun && row.begun !== false
        return deps.accept.add({ ...message, bulkJobId: id, n: row.n, fence, retried })
      }
      const verdict = await deps.acceptMessage<BulkVerdict>(row.tried, prepared, null, add, {
        bulkJobId: id,
        submitCallbacks: way.leaving,
      })
      // It leaves from the outbox.
      if (verdict.kind === 'known') way.leaving.submitted(null)
      return await conclude(known, row, prepared, verdict)
    } catch (error) {
      // Its attachment is gone: a message that an earlier try stored, if any, stays as it is.
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
        lane.halt(known, { reason: 'insufficient_balance', amount, channel })
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
        throw new Error(`unexpected verdict for a bulk row, which has no idempotency key: ${verdict.kind}`)
    }
  }

  async function fail(known: JobInHand, row: RowInHand, code: string, message: string): Promise<Done> {
    const ours = await deps.fail({ accountId, id: known.job.id, n: row.n, fence, code, message })
    if (ours) return 'failed'
    deps.lost(accountId)
    return 'lost'
  }

  /** Whether the provider has throttled this connection; the job then waits or is paused. */
  function rests(known: JobInHand, { connectionId }: Prepared): boolean {
    const untilMs = deps.restsUntil(connectionId, accountId)
    const leftMs = untilMs - clock.now()
    if (leftMs <= 0) return false
    if (leftMs >= SHORT_REST_MS) lane.halt(known, { reason: 'provider_rate_limit', untilMs })
    else lane.haltFor(known, leftMs)
    return true
  }

  /**
   * Whether even the preferred connection accepts no messages at the moment. A row that was sent there would use up its
   * attempts, and leave together with many others once it works again. The first row after the circuit's wait probes it.
   */
  async function isDown(known: JobInHand, { connectionId }: Prepared): Promise<boolean> {
    if (deps.rows.ready(connectionId) || (await deps.isElsewhere(accountId, connectionId))) return false
    if (!known.halted) lane.haltFor(known, RETRY_MS)
    return true
  }

  function noteTrouble(known: JobInHand, row: RowInHand, error: unknown): Done {
    const level = error instanceof DatabaseUnavailable ? 'debug' : 'warn'
    deps.log[level](
      { err: error, jobId: known.job.id, row: row.n },
      'a bulk row could not be handed over; it will be retried',
    )
    if (!known.halted) lane.haltFor(known, RETRY_MS)
    return 'again'
  }

  return (known: JobInHand, row: RowInHand, account: AccountSnapshot, way: OnItsWay): Promise<Done> =>
    send(known, row, account, way).catch(error => noteTrouble(known, row, error))
}

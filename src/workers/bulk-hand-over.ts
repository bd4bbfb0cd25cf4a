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
import { DatabaseUnavailable, mayHaveBeenExecuted } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId, Ids, MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { JobState, PendingRow } from './bulk-job.ts'

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
  /**
   * The response to an accept of the message was lost: it may be stored, with its first attempt if `begun`, which is not
   * made. Maybe nobody tries the row again.
   */
  noteLostAccept(id: MessageId, begun: boolean): void
  /** A message is stored, and its first attempt, if it was recorded with it, is not made here. */
  undoAttempt(message: { accountId: AccountId; id: MessageId; connectionId: ConnectionId }): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  pausedUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** Whether the connection is a web session open on another node, which takes its messages from the outbox. */
  isOpenElsewhere(accountId: AccountId, connectionId: ConnectionId): Promise<boolean>
  /** The lane has turned out to be another node's, or its state of its jobs to be outdated. */
  onLaneLost(accountId: AccountId): void
  /** A job has finished, was paused, or has lost its share of the ceiling. */
  onJobChanged(accountId: AccountId): void
}

/** What the lane does with a job whose row could not be sent. */
type JobControl = {
  /** Pauses it in the database, until that says that it resumes. */
  pauseJob(job: JobState, why: PauseCause): void
  delayJob(job: JobState, forMs: number): void
  /** Whether any of its rows' connections is enabled. */
  setHasConnection(job: JobState, on: boolean): void
}

/** The result of handing a row over. */
export type HandOverResult =
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
export const MAX_THROTTLE_WAIT_MS = 1_000

/** Callbacks for the progress of one row. */
type RowProgress = {
  /** The row has a slot of its connection, or waits for one there. */
  slotTaken(): void
  leaving: SubmitCallbacks
}

/** Turns a row of a lane into its message; never rejects. */
export function createHandOver({ accountId, fence }: LaneLease, deps: HandOverDeps, lane: JobControl) {
  const { clock } = deps

  async function send(
    state: JobState,
    row: PendingRow,
    account: AccountSnapshot,
    progress: RowProgress,
  ): Promise<HandOverResult> {
    const { live, keyId, id } = state.job
    const caller = rowCaller(account, live, keyId)
    const prepared = await resolveRow(row, id, caller, deps.rows)
    if (prepared instanceof Problem) {
      state.lastConnectionId ??= null
      // Waits, as accepted messages do: a connection that was disabled may be enabled again.
      if (await waitsForConnection(prepared, row, id, caller, deps.rows)) {
        lane.setHasConnection(state, false)
        return 'again'
      }
      return fail(state, row, prepared.code, prepared.message)
    }
    lane.setHasConnection(state, true)
    if (isThrottled(state, prepared) || (await isDown(state, prepared))) return 'again'
    state.lastConnectionId = prepared.connectionId
    const retried = row.messageId !== undefined
    row.messageId ??= deps.ids.next('msg')
    /** Whether this try records the message's first attempt with it; null before it is made. */
    let begun: boolean | null = null
    try {
      const add = (message: AcceptRow) => {
        progress.slotTaken()
        begun = message.begun
        return deps.accept.add({ ...message, bulkJobId: id, n: row.n, fence, retried })
      }
      const verdict = await deps.acceptMessage<BulkVerdict>(row.messageId, prepared, null, add, {
        bulkJobId: id,
        submitCallbacks: progress.leaving,
      })
      // It leaves from the outbox.
      if (verdict.kind === 'known') progress.leaving.submitted(null)
      return await conclude(state, row, prepared, verdict, begun === true)
    } catch (error) {
      // The row may be given up: its job is paused or cancelled, or the lane has become another node's.
      if (begun !== null && mayBeStored(error)) deps.noteLostAccept(row.messageId, begun)
      // Its attachment is gone: a message that an earlier try stored, if any, stays as it is.
      if (error instanceof Problem) return fail(state, row, error.code, error.message)
      throw error
    }
  }

  function conclude(
    state: JobState,
    row: PendingRow,
    { amount, channel, connectionId }: Prepared,
    verdict: BulkVerdict,
    begun: boolean,
  ): HandOverResult | Promise<HandOverResult> {
    switch (verdict.kind) {
      case 'accepted':
        return 'sent'
      case 'known':
        // If this accept stored it for the outbox, another node may be sending it.
        if (verdict.byThisOne && !begun) return 'sent'
        if (verdict.byThisOne) deps.noteLostAccept(row.messageId!, begun)
        deps.undoAttempt({ accountId, id: row.messageId!, connectionId })
        return 'sent'
      case 'insufficient':
        lane.pauseJob(state, { reason: 'insufficient_balance', amount, channel })
        return 'again'
      case 'later':
        return 'again'
      case 'over':
        state.halted = true
        deps.onJobChanged(accountId)
        return 'over'
      case 'stale':
        deps.onLaneLost(accountId)
        return 'lost'
      case 'faulty':
        deps.log.warn({ err: verdict.cause, jobId: state.job.id, row: row.n }, 'a bulk row cannot be stored')
        return fail(state, row, 'INTERNAL_ERROR', 'the message could not be stored')
      default:
        throw new Error(`unexpected verdict for a bulk row, which has no idempotency key: ${verdict.kind}`)
    }
  }

  async function fail(
    state: JobState,
    row: PendingRow,
    code: string,
    message: string,
  ): Promise<HandOverResult> {
    const ours = await deps.fail({ accountId, id: state.job.id, n: row.n, fence, code, message })
    if (ours) return 'failed'
    deps.onLaneLost(accountId)
    return 'lost'
  }

  /** Whether the provider has throttled this connection; the job then waits or is paused. */
  function isThrottled(state: JobState, { connectionId }: Prepared): boolean {
    const untilMs = deps.pausedUntil(connectionId, accountId)
    const leftMs = untilMs - clock.now()
    if (leftMs <= 0) return false
    if (leftMs >= MAX_THROTTLE_WAIT_MS) lane.pauseJob(state, { reason: 'provider_rate_limit', untilMs })
    else lane.delayJob(state, leftMs)
    return true
  }

  /**
   * Whether even the preferred connection accepts no messages at the moment. A row that was sent there would use up its
   * attempts, and leave together with many others once it works again. The first row after the circuit's wait probes it.
   */
  async function isDown(state: JobState, { connectionId }: Prepared): Promise<boolean> {
    if (deps.rows.ready(connectionId) || (await deps.isOpenElsewhere(accountId, connectionId))) return false
    if (!state.halted) lane.delayJob(state, RETRY_MS)
    return true
  }

  function handleError(state: JobState, row: PendingRow, error: unknown): HandOverResult {
    const level = error instanceof DatabaseUnavailable ? 'debug' : 'warn'
    deps.log[level](
      { err: error, jobId: state.job.id, row: row.n },
      'a bulk row could not be handed over; it will be retried',
    )
    if (!state.halted) lane.delayJob(state, RETRY_MS)
    return 'again'
  }

  return (
    state: JobState,
    row: PendingRow,
    account: AccountSnapshot,
    progress: RowProgress,
  ): Promise<HandOverResult> =>
    send(state, row, account, progress).catch(error => handleError(state, row, error))
}

/** Whether an accept that failed with this error may have stored the message. */
function mayBeStored(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && mayHaveBeenExecuted(error)
}

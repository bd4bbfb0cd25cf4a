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
  /** False when it was not ours to say. */
  fail(row: FailedRow): Promise<boolean>
  /** The first attempt of a message was recorded when it was stored, and nobody has made it, nor will. */
  neverMade(message: { accountId: AccountId; id: MessageId; connectionId: ConnectionId }): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  restsUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** A web session that is open on another node, where what goes over it leaves from the store. */
  isElsewhere(accountId: AccountId, connectionId: ConnectionId): Promise<boolean>
  /** The store knows better: the lane is another node's, or what it knows of its jobs is wrong. */
  lost(accountId: AccountId): void
  /** A job has its share no longer, or is paused. */
  moved(accountId: AccountId): void
}

/** What the lane does with a job whose row could not go. */
type Halts = {
  /** Until the store says that it goes on. */
  halt(job: JobInHand, why: PauseCause): void
  haltFor(job: JobInHand, forMs: number): void
  /** Its rows have a connection to go by, or have none that is switched on. */
  switched(job: JobInHand, on: boolean): void
}

/** What came of a hand-over. */
export type Done =
  | 'sent'
  | 'failed'
  /** It is to be tried again, in its turn. */
  | 'again'
  /** Its job has ended. */
  | 'over'
  /** It is not ours to judge. */
  | 'lost'

/** What went wrong is tried again so much later. */
export const RETRY_MS = 1_000
/** A rest that is shorter is waited for; a longer one is a pause. */
const SHORT_REST_MS = 1_000

/** What is told of a row on its way. */
type OnItsWay = {
  /** It has a place at its connection, or will wait for one. */
  placed(): void
  leaving: SubmitCallbacks
}

/** Makes a row of a lane the message that it is; never rejects. */
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
      // As messages that were accepted do: whoever switches a connection off may switch it on again.
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
      // It leaves by the store.
      if (verdict.kind === 'known') way.leaving.submitted(null)
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
    if (leftMs >= SHORT_REST_MS) lane.halt(known, { reason: 'provider_rate_limit', untilMs })
    else lane.haltFor(known, leftMs)
    return true
  }

  /**
   * Even the best connection takes no messages at the moment. A row that went there would use up its tries, and
   * leave with many others once it works again. The first row after the circuit's wait tries it.
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
      'a bulk row was not handed over; it is tried again',
    )
    if (!known.halted) lane.haltFor(known, RETRY_MS)
    return 'again'
  }

  return (known: JobInHand, row: RowInHand, account: AccountSnapshot, way: OnItsWay): Promise<Done> =>
    send(known, row, account, way).catch(error => noteTrouble(known, row, error))
}

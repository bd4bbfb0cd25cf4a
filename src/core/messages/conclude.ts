import type { Outcome, PartIds } from '../../channels/provider.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Random } from '../../lib/random.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'
import { sealSecret } from '../outbox/stored-content.ts'
import type { Failover, FailoverResult } from './failover.ts'
import type { MessageParts } from './parts.ts'
import { storableOutcome } from './provider-text.ts'
import type { Settle } from './settle.ts'
import { type Settlement, type SettlePolicy, settleNotMade, settleOutcome } from './transitions.ts'
import type { Waiters } from './waiters.ts'

/** The state of a message after an attempt. */
export type Conclusion =
  /** It failed over to another connection: this node holds it, not begun. */
  | { kind: 'moved'; item: OutboxItem }
  /** The outcome is stored; `applied` unless another outcome was faster, `dueAt` (ms since the epoch) if it is due again. */
  | { kind: 'settled'; applied: boolean; dueAt: number | null }

/** The fields of a message that are needed to settle it. */
type MessageRef = Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'> & Partial<OutboxItem>

export type Conclude = {
  /**
   * Applies the outcome of an attempt to its message, in time or late. Rejects if the
   * outcome could not be stored: then the message is unknown.
   */
  attempt(item: OutboxItem, attempt: number, outcome: Outcome): Promise<Conclusion>
  /** Settles an attempt as unknown: it was recorded, but this node does not know whether it was made. */
  orphaned(place: MessageRef, attempt: number): Promise<Conclusion>
  /** Reverts an attempt that was recorded and certainly not made: the message is due at `dueAtMs`, by default at once. */
  notMade(place: MessageRef, attempt: number, dueAtMs?: number): Promise<Conclusion>
}

export type ConcludeDeps = {
  clock: Clock
  ids: Ids
  random: Random
  log: Log
  settle: Settle
  parts: Pick<MessageParts, 'store'>
  seal: Pick<Seal, 'seal'>
  waiters: Waiters
  failover: Failover
  /** True while stopping: then a write is not retried while the database is unavailable. */
  stopping(): boolean
  /** The connection's retries, and the deadline of its unknown messages. */
  policyOf(connectionId: ConnectionId): SettlePolicy
  /** Stores the opt-out of a recipient that the provider reported. */
  storeOptOut(item: OutboxItem, providerCode: string | null): Promise<void>
}

/** Applies an outcome in all its effects: opt-out, parts, failover, settlement, and the request that waits. */
export function createConclude(deps: ConcludeDeps): Conclude {
  const { clock, log, settle, waiters } = deps

  async function attempt(item: OutboxItem, attempt: number, reported: Outcome): Promise<Conclusion> {
    const outcome = storableOutcome(reported)
    if (outcome.kind === 'rejected' && outcome.optedOut)
      await recordOptOut(item, outcome.providerCode ?? null)
    if ('pieces' in outcome && outcome.pieces) await recordParts(item, outcome.pieces)
    const failover = await tryFailover(item, attempt, outcome)
    if (failover.kind === 'moved') return failover
    return storeSettlement(item, attempt, settlementOf(item.connectionId, outcome, failover.tries))
  }

  /** Before the response, so that whoever learns of the refusal finds the opt-out on the list. */
  async function recordOptOut(item: OutboxItem, providerCode: string | null): Promise<void> {
    const note = () => deps.storeOptOut(item, providerCode)
    await retryWhileUnavailable(clock, () => !deps.stopping(), note).catch(error => {
      log.warn({ err: error, messageId: item.id }, 'could not store the opt-out of a recipient')
    })
  }

  /** Before the message is settled, so that no receipt of a part finds it without its other parts. */
  async function recordParts({ id, connectionId }: OutboxItem, pieces: PartIds): Promise<void> {
    await deps.parts.store(connectionId, pieces).catch(error => {
      log.warn(
        { err: error, messageId: id },
        'could not store the ids of the parts of a message; it stays sent',
      )
    })
  }

  /** Fails a message over to another connection, at once and on this node, if its own did not take it. */
  function tryFailover(
    item: OutboxItem,
    attempt: number,
    outcome: Outcome,
  ): FailoverResult | Promise<FailoverResult> {
    const stays: FailoverResult = { kind: 'stays', tries: attempt }
    if (outcome.kind !== 'rejected' && outcome.kind !== 'retry') return stays
    return deps.failover.after(item, attempt, outcome).catch(error => {
      log.warn(
        { err: error, messageId: item.id },
        'could not look for another connection; the message stays with its own',
      )
      return stays
    })
  }

  function settlementOf(connectionId: ConnectionId, outcome: Outcome, tries: number): Settlement {
    return settleOutcome(outcome, tries, deps.policyOf(connectionId), clock.now(), deps.random)
  }

  async function storeSettlement(
    place: MessageRef,
    attempt: number,
    settlement: Settlement,
  ): Promise<Conclusion> {
    const { accountId, id, connectionId } = place
    const waiting = waiters.claimOf(id)
    const applied = await settle.attempt({
      accountId,
      id,
      attempt,
      connectionId,
      ...settlement,
      secret: settlement.kind === 'queued' && hasContent(place) ? sealSecret(deps.seal, place) : null,
      keyToFree: settlement.errorCode === 'PROVIDER_UNAVAILABLE' ? waiting : null,
      eventId: deps.ids.next('evt'),
    })
    // If another outcome was faster, the request reads that one from the database.
    const first = settlement.answer !== null && applied?.answer === settlement.answer
    if (settlement.answer) waiters.notify(id, first ? toFirstOutcome(place, settlement) : null)
    return {
      kind: 'settled',
      applied: applied !== null,
      dueAt: settlement.kind === 'queued' ? settlement.dueAt : null,
    }
  }

  return {
    attempt,
    orphaned(place, attempt) {
      const outcome: Outcome = { kind: 'unknown', detail: 'the node did not see the outcome of the attempt' }
      return storeSettlement(place, attempt, settlementOf(place.connectionId, outcome, attempt))
    },
    notMade: (place, attempt, dueAtMs = clock.now()) =>
      storeSettlement(place, attempt, settleNotMade(dueAtMs)),
  }
}

/** Whether the item has its content; false for a message of which this node knows only its row in the outbox. */
function hasContent(place: MessageRef): place is OutboxItem {
  return place.content !== undefined
}

/** For the request that waits; null if it has to read the outcome from the database. */
function toFirstOutcome(
  { channel, connectionId }: MessageRef,
  { answer, errorCode, errorDetail }: Settlement,
) {
  return channel ? { answer: answer!, errorCode, errorDetail, channel, connectionId } : null
}

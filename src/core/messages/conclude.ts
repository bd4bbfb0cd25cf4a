import type { Outcome, PartIds } from '../../channels/provider.ts'
import { patiently } from '../../infra/patiently.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Random } from '../../lib/random.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'
import { sealWords } from '../outbox/stored-content.ts'
import type { Failover, Onward } from './failover.ts'
import type { MessageParts } from './parts.ts'
import { storableOutcome } from './provider-words.ts'
import type { Settle } from './settle.ts'
import { notMade, type Settlement, type SettlePolicy, settleOutcome } from './transitions.ts'
import type { Waiters } from './waiters.ts'

/** The state of a message after an attempt. */
export type Conclusion =
  /** It failed over to another connection: this node holds it, not begun. */
  | { kind: 'moved'; item: OutboxItem }
  /** The outcome is stored; `applied` unless another outcome was faster, `dueAt` (ms since the epoch) if it is due again. */
  | { kind: 'settled'; applied: boolean; dueAt: number | null }

/** The fields of a message that are needed to settle it. */
type Place = Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'> & Partial<OutboxItem>

export type Conclude = {
  /**
   * Applies the outcome of an attempt to its message, in time or late. Rejects if the
   * outcome could not be stored: then the message is unknown.
   */
  attempt(item: OutboxItem, attempt: number, outcome: Outcome): Promise<Conclusion>
  /** Settles an attempt as unknown: it was recorded, but this node does not know whether it was made. */
  lost(place: Place, attempt: number): Promise<Conclusion>
  /** Reverts an attempt that was recorded and certainly not made: the message is due at once. */
  neverMade(place: Place, attempt: number): Promise<Conclusion>
}

export type ConcludeDeps = {
  clock: Clock
  ids: Ids
  random: Random
  log: Log
  settle: Settle
  parts: Pick<MessageParts, 'note'>
  seal: Pick<Seal, 'seal'>
  waiters: Waiters
  failover: Failover
  /** True while stopping: then a write is not retried while the database is unavailable. */
  stopping(): boolean
  /** The connection's retries, and the deadline of its unknown messages. */
  policyOf(connectionId: ConnectionId): SettlePolicy
  /** Stores the opt-out of a recipient that the provider reported. */
  optedOut(item: OutboxItem, providerCode: string | null): Promise<void>
}

/** Applies an outcome in all its effects: opt-out, parts, failover, settlement, and the request that waits. */
export function createConclude(deps: ConcludeDeps): Conclude {
  const { clock, log, settle, waiters } = deps

  async function attempt(item: OutboxItem, attempt: number, told: Outcome): Promise<Conclusion> {
    const outcome = storableOutcome(told)
    if (outcome.kind === 'rejected' && outcome.optedOut) await noteOptOut(item, outcome.providerCode ?? null)
    if ('pieces' in outcome && outcome.pieces) await noteParts(item, outcome.pieces)
    const onward = await goOn(item, attempt, outcome)
    if (onward.kind === 'moved') return onward
    return write(item, attempt, settlementOf(item.connectionId, outcome, onward.tries))
  }

  /** Before the response, so that whoever learns of the refusal finds the opt-out on the list. */
  async function noteOptOut(item: OutboxItem, providerCode: string | null): Promise<void> {
    const note = () => deps.optedOut(item, providerCode)
    await patiently(clock, () => !deps.stopping(), note).catch(error => {
      log.warn({ err: error, messageId: item.id }, 'could not store the opt-out of a recipient')
    })
  }

  /** Before the message is settled, so that no receipt of a part finds it without its other parts. */
  async function noteParts({ id, connectionId }: OutboxItem, pieces: PartIds): Promise<void> {
    await deps.parts.note(connectionId, pieces).catch(error => {
      log.warn(
        { err: error, messageId: id },
        'could not store the ids of the parts of a message; it stays sent',
      )
    })
  }

  /** Fails a message over to another connection, at once and on this node, if its own did not take it. */
  function goOn(item: OutboxItem, attempt: number, outcome: Outcome): Onward | Promise<Onward> {
    const stays: Onward = { kind: 'stays', tries: attempt }
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

  async function write(place: Place, attempt: number, settlement: Settlement): Promise<Conclusion> {
    const { accountId, id, connectionId } = place
    const waiting = waiters.claimOf(id)
    const told = await settle.attempt({
      accountId,
      id,
      attempt,
      connectionId,
      ...settlement,
      secret: settlement.kind === 'queued' && isWhole(place) ? sealWords(deps.seal, place) : null,
      forget: settlement.errorCode === 'PROVIDER_UNAVAILABLE' ? waiting : null,
      eventId: deps.ids.next('evt'),
    })
    // If another outcome was faster, the request reads that one from the database.
    const first = settlement.answer !== null && told?.answer === settlement.answer
    if (settlement.answer) waiters.tell(id, first ? toWord(place, settlement) : null)
    return {
      kind: 'settled',
      applied: told !== null,
      dueAt: settlement.kind === 'queued' ? settlement.dueAt : null,
    }
  }

  return {
    attempt,
    lost(place, attempt) {
      const outcome: Outcome = { kind: 'unknown', detail: 'the node did not see the outcome of the attempt' }
      return write(place, attempt, settlementOf(place.connectionId, outcome, attempt))
    },
    neverMade: (place, attempt) => write(place, attempt, notMade(clock.now())),
  }
}

/** Whether the item has its content; false for a message of which this node knows only its row in the outbox. */
function isWhole(place: Place): place is OutboxItem {
  return place.content !== undefined
}

/** For the request that waits; null if it has to read the outcome from the database. */
function toWord({ channel, connectionId }: Place, { answer, errorCode, errorDetail }: Settlement) {
  return channel ? { answer: answer!, errorCode, errorDetail, channel, connectionId } : null
}

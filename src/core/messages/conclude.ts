import type { Outcome, Pieces } from '../../channels/provider.ts'
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

/** What became of a message after an attempt. */
export type Conclusion =
  /** It goes on over another connection: this node holds it, not begun. */
  | { kind: 'moved'; item: OutboxItem }
  /** It is written down; `applied` unless another word was faster, `dueAt` (ms since the epoch) where it is due again. */
  | { kind: 'settled'; applied: boolean; dueAt: number | null }

/** As much of a message as must be known to settle it. */
type Place = Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'> & Partial<OutboxItem>

export type Conclude = {
  /**
   * What an attempt's outcome makes of its message, whether it is known at once or
   * comes late. Rejects where it could not be written down: then it is unknown.
   */
  attempt(item: OutboxItem, attempt: number, outcome: Outcome): Promise<Conclusion>
  /** Ends an attempt of which this node knows nothing but that it was recorded. */
  lost(place: Place, attempt: number): Promise<Conclusion>
  /** Takes an attempt back that was recorded and is known not to have been made: the message is due at once. */
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
  /** True while stopping: then nobody waits for a database that is away. */
  stopping(): boolean
  /** How often a connection's messages are tried, and when an unknown one is closed. */
  policyOf(connectionId: ConnectionId): SettlePolicy
  /** Keeps that a recipient has opted out, by the provider's word. */
  optedOut(item: OutboxItem, providerCode: string | null): Promise<void>
}

/** The one way from an outcome to what it does: opt-out, parts, failover, settlement, and the waiting sender. */
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

  /** Before the sender is told, so that whoever hears of the refusal finds it on the list. */
  async function noteOptOut(item: OutboxItem, providerCode: string | null): Promise<void> {
    const note = () => deps.optedOut(item, providerCode)
    await patiently(clock, () => !deps.stopping(), note).catch(error => {
      log.warn({ err: error, messageId: item.id }, 'could not store the opt-out of a recipient')
    })
  }

  /** Before it is settled: no receipt of a part finds the message without the others. */
  async function noteParts({ id, connectionId }: OutboxItem, pieces: Pieces): Promise<void> {
    await deps.parts.note(connectionId, pieces).catch(error => {
      log.warn(
        { err: error, messageId: id },
        'could not store the ids of the parts of a message; it stays sent',
      )
    })
  }

  /** What was not taken here may be taken elsewhere: at once, and by this node. */
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
    // Where another outcome was faster, the request reads it from the store.
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

/** False where this node knows no more of the message than that its attempt was recorded. */
function isWhole(place: Place): place is OutboxItem {
  return place.content !== undefined
}

/** For the request that waits; null where it has to read the store. */
function toWord({ channel, connectionId }: Place, { answer, errorCode, errorDetail }: Settlement) {
  return channel ? { answer: answer!, errorCode, errorDetail, channel, connectionId } : null
}

import type { Channel } from '../../contract/enums.ts'
import type { ConnectionId, MessageId } from '../../lib/ids.ts'
import { createShortLivedMap } from '../../lib/short-lived-map.ts'
import type { KeyClaim } from './hot-store.ts'
import type { Settlement } from './transitions.ts'

/** The first outcome of a message, for the request that waits for it. */
export type FirstOutcome = Pick<Settlement, 'errorCode' | 'errorDetail'> & {
  answer: 'sent' | 'queued' | 'failed'
  /** The channel and the connection of the outcome; a failover may have changed them. */
  channel: Channel
  connectionId: ConnectionId
}

/** The requests in this process that wait for the first outcome of their message. */
export type Waiters = {
  wait(id: MessageId, claim: KeyClaim | null): Promise<FirstOutcome | null>
  /** The idempotency key of a request that still waits, and has no response yet. */
  claimOf(id: MessageId): KeyClaim | null
  /** Resolves the waiting request, if there is one; with null, it has to read the outcome from the database. */
  notify(id: MessageId, outcome: FirstOutcome | null): void
  remove(id: MessageId): void
}

type Waiter = { claim: KeyClaim | null; resolve(outcome: FirstOutcome | null): void }

export function createWaiters(): Waiters {
  const waiting = createShortLivedMap<MessageId, Waiter>()
  return {
    wait: (id, claim) => new Promise(resolve => waiting.set(id, { claim, resolve })),
    claimOf: id => waiting.get(id)?.claim ?? null,
    notify(id, outcome) {
      waiting.get(id)?.resolve(outcome)
      waiting.delete(id)
    },
    remove: id => {
      waiting.delete(id)
    },
  }
}

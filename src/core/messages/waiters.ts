import type { Channel } from '../../contract/enums.ts'
import type { ConnectionId, MessageId } from '../../lib/ids.ts'
import type { KeyClaim } from './hot-store.ts'
import type { Settlement } from './transitions.ts'

/** The first word on a message, for the request that waits for it. */
export type FirstWord = Pick<Settlement, 'errorCode' | 'errorDetail'> & {
  answer: 'sent' | 'queued' | 'failed'
  /** Where it comes from: a failover may have moved the message. */
  channel: Channel
  connectionId: ConnectionId
}

/** Who, in this process, still waits for the first word on a message. */
export type Waiters = {
  wait(id: MessageId, claim: KeyClaim | null): Promise<FirstWord | null>
  /** The key of a request that still waits: its answer is not given yet. */
  claimOf(id: MessageId): KeyClaim | null
  /** Wakes the waiting request, if there is one; null when the word has to be read from the store. */
  tell(id: MessageId, word: FirstWord | null): void
  forget(id: MessageId): void
}

export function createWaiters(): Waiters {
  const waiting = new Map<MessageId, { claim: KeyClaim | null; resolve(word: FirstWord | null): void }>()
  return {
    wait: (id, claim) => new Promise(resolve => waiting.set(id, { claim, resolve })),
    claimOf: id => waiting.get(id)?.claim ?? null,
    tell(id, word) {
      waiting.get(id)?.resolve(word)
      waiting.delete(id)
    },
    forget: id => {
      waiting.delete(id)
    },
  }
}

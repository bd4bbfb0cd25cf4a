import type { Channel, MessageType } from '../../contract/enums.ts'
import type { AccountId, ConnectionId, Id, MessageId } from '../../lib/ids.ts'
import type { StoredContent } from './stored-content.ts'

/** A message that this node is to dispatch. */
export type OutboxItem = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  channel: Channel
  messageType: MessageType
  recipient: string
  sender: string | null
  content: StoredContent
  /** Its bulk job, whose rate it is sent at; absent once the job has ended. */
  bulkJobId?: Id<'job'>
  /** Callbacks about its submit. */
  submitCallbacks?: SubmitCallbacks
  /** Since when the node holds it, in ms of the monotonic clock: earlier look-ups for it are at least that old. */
  heldAtMs?: number
}

/** Callbacks about the submit of a message; each may be called more than once. */
export type SubmitCallbacks = {
  /** It is submitted over this connection; null: this node gives it back, or never held it. */
  submitted(connectionId: ConnectionId | null): void
  /** The provider has answered. */
  answered(): void
  /** It has asked for no messages, or for none of this account, for so long; maybe in its answer to another message. */
  throttled?(forMs: number): void
}

/** How a message that is due now is accepted. */
export type Admission =
  /** It gets a place in the lane: the accept records the attempt, and the submit follows at once. */
  | { kind: 'begin' }
  /** The node holds it until the lane has a free place. */
  | { kind: 'hold' }
  /** It stays in the outbox for any node that has room from `dueAt` on (ms since the epoch). */
  | { kind: 'wait'; dueAt: number }

/** From accepting to dispatching within one process. */
export type Dispatch = {
  admit(connectionId: ConnectionId, accountId: AccountId): Admission
  /** Gives back the place of a message that was admitted with `begin` but not accepted. */
  release(connectionId: ConnectionId): void
  /** Hands over an accepted message; `begun`: its attempt is recorded already. */
  push(item: OutboxItem, begun: boolean): void
}

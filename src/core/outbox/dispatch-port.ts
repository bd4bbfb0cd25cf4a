import type { Channel, MessageType } from '../../contract/enums.ts'
import type { AccountId, ConnectionId, Id, MessageId } from '../../lib/ids.ts'
import type { StoredContent } from './stored-content.ts'

/** A message on its way out, as a node holds it. */
export type OutboxItem = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  channel: Channel
  messageType: MessageType
  recipient: string
  sender: string | null
  content: StoredContent
  /** The job that it is of, unless that has ended: it leaves at the job's pace. */
  bulkJobId?: Id<'job'>
  /** Whoever wants to know when it leaves. */
  leaving?: Leaving
  /** Since when a node holds it, by the monotonic clock in ms: what was looked up for it before is that old. */
  heldAtMs?: number
}

/** What is told of a message on its way out, maybe more than once. */
export type Leaving = {
  /** It goes to the provider behind this connection; null: this node lets go of it, or never had it. */
  left(connectionId: ConnectionId | null): void
  /** Its provider has said something: whatever it took, it took before. */
  answered(): void
}

/** What accepting may do with a message that is due now. */
export type Admission =
  /** It sets out for a place in the lane: the attempt is recorded with the accept, and the submit follows at once. */
  | { kind: 'begin' }
  /** The node holds it until a place is free. */
  | { kind: 'hold' }
  /** It waits in the outbox, for whichever node has room from `dueAt` on (ms since the epoch). */
  | { kind: 'wait'; dueAt: number }

/** The way from accepting to dispatching, within one process. */
export type Dispatch = {
  admit(connectionId: ConnectionId, accountId: AccountId): Admission
  /** What was admitted to `begin` was not accepted. */
  release(connectionId: ConnectionId): void
  /** Hands over an accepted message; `begun`: its attempt is recorded. */
  push(item: OutboxItem, begun: boolean): void
}

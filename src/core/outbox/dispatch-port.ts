import type { Channel, MessageType } from '../../contract/enums.ts'
import type { AccountId, ConnectionId, MessageId } from '../../lib/ids.ts'
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
}

/** What accepting may do with a message that is due now. */
export type Admission =
  /** A place in the lane is taken: the attempt is recorded with the accept, and the submit follows at once. */
  | { kind: 'begin' }
  /** The node holds it until a place is free. */
  | { kind: 'hold' }
  /** It waits in the outbox, for whichever node has room from `dueAt` on (ms since the epoch). */
  | { kind: 'wait'; dueAt: number }

/** The way from accepting to dispatching, within one process. */
export type Dispatch = {
  admit(connectionId: ConnectionId, accountId: AccountId): Admission
  /** Gives a place back that `begin` took and nothing was pushed into. */
  release(connectionId: ConnectionId): void
  /** Hands over an accepted message; `begun` uses the place that was taken. */
  push(item: OutboxItem, begun: boolean): void
}

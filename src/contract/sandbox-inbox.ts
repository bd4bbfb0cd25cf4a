import type { AccountId, ConnectionId, MessageId } from '../lib/ids.ts'
import type { SandboxMessage } from './sandbox.ts'

/** What the sandbox stores of a message. */
export type ReceivedMessage = {
  connectionId: ConnectionId
  accountId: AccountId
  messageId: MessageId
  /** In ms since the epoch. */
  receivedAtMs: number
  content: Omit<SandboxMessage, 'messageId' | 'receivedAt'>
  /** Receipts that the sandbox will report later. */
  receipts: readonly PlannedReceipt[]
}

export type PlannedReceipt = {
  providerId: string
  status: 'delivered' | 'read' | 'undelivered'
  /** In ms since the epoch. */
  dueAtMs: number
}

/** A due receipt. `id` and `claimedUntilMs` identify this claim. */
export type ClaimedReceipt = PlannedReceipt & { id: number; claimedUntilMs: number }

/**
 * The storage of the sandbox provider. Every method rejects if the database cannot be reached. Several nodes
 * may share one inbox.
 */
export type SandboxInbox = {
  /**
   * Stores a message; resolves once it and its receipts are durable. Repeating it only increments its
   * attempts, so that a caller may retry.
   */
  store(message: ReceivedMessage): Promise<void>
  /**
   * Until when the account's lane is throttled for this recipient, in ms since the epoch. A message that was
   * accepted before the end of a pause is not throttled again; a later one begins a new pause of `restMs`.
   */
  throttledUntil(wish: ThrottleRequest): Promise<number>
  /** When the next unclaimed receipt of the connection is due, in ms since the epoch; null if there is none. */
  nextReceiptAt(connectionId: ConnectionId, nowMs: number): Promise<number | null>
  /** Takes what is due, oldest first; hidden from other nodes until `claimedUntilMs`. */
  claimReceipts(claim: ReceiptClaim): Promise<ClaimedReceipt[]>
  /** Deletes receipts that were reported, unless the claim has expired and another node has claimed them. */
  finishReceipts(told: readonly ClaimedReceipt[]): Promise<void>
} & SandboxTemplates

/**
 * Storage of templates that were submitted to the sandbox. A name may exist several times, since accounts
 * share the sandbox.
 */
export type SandboxTemplates = {
  /** Resolves with its id once it is durable. */
  storeTemplate(template: TemplateKey & { decidedAtMs: number }): Promise<number>
  /** The template of that name and language that was decided first; null if there is none. */
  findTemplate(key: TemplateKey): Promise<SubmittedTemplate | null>
  /** Deletes the one with this id, or one of the name if that is null; no error if there is none. */
  removeTemplate(key: TemplateKey, id: number | null): Promise<void>
  /** When the next unreported decision is due, in ms since the epoch; null if there is none. */
  nextDecisionAt(connectionId: ConnectionId, nowMs: number): Promise<number | null>
  /** Takes what is due, oldest first; hidden from other nodes until `claimedUntilMs`. */
  claimDecisions(claim: ReceiptClaim): Promise<SubmittedTemplate[]>
  /** Marks these as reported. */
  finishDecisions(ids: readonly number[]): Promise<void>
}

export type TemplateKey = { connectionId: ConnectionId; name: string; language: string }

/** `decidedAtMs`: when it is approved or rejected; its name decides which. */
export type SubmittedTemplate = { id: number; name: string; language: string; decidedAtMs: number }

export type ThrottleRequest = {
  accountId: AccountId
  recipient: string
  acceptedAtMs: number
  nowMs: number
  throttleMs: number
}

export type ReceiptClaim = {
  connectionId: ConnectionId
  nowMs: number
  claimedUntilMs: number
  limit: number
}

import type { AccountId, ConnectionId, MessageId } from '../lib/ids.ts'
import type { SandboxMessage } from './sandbox.ts'

/** What the sandbox writes down of a message when it takes it. */
export type TakenMessage = {
  connectionId: ConnectionId
  accountId: AccountId
  messageId: MessageId
  /** In ms since the epoch. */
  receivedAtMs: number
  content: Omit<SandboxMessage, 'messageId' | 'receivedAt'>
  /** What the sandbox will tell of it later. */
  receipts: readonly PlannedReceipt[]
}

export type PlannedReceipt = {
  providerId: string
  status: 'delivered' | 'read' | 'undelivered'
  /** In ms since the epoch. */
  dueAtMs: number
}

/** A receipt to be told now. `id` and `claimedUntilMs` name this claim of it. */
export type ClaimedReceipt = PlannedReceipt & { id: number; claimedUntilMs: number }

/**
 * The sandbox provider's memory, between the provider that uses it and the store
 * that keeps it. Every verb rejects when the database cannot be reached. Several
 * nodes may share one inbox.
 */
export type SandboxInbox = {
  /**
   * Resolves once message and receipts are durable. The same message again only
   * raises its attempts, so that a caller in doubt may repeat.
   */
  take(message: TakenMessage): Promise<void>
  /**
   * Until when the account's lane rests for this recipient, in ms since the epoch.
   * A message accepted before the end of a rest has had its own; a later one begins
   * a new rest of `restMs`.
   */
  restUntil(wish: RestWish): Promise<number>
  /** When the next unclaimed receipt of the connection is due, in ms since the epoch; null when none waits. */
  nextReceiptAt(connectionId: ConnectionId, nowMs: number): Promise<number | null>
  /** Takes what is due, oldest first; hidden from other nodes until `claimedUntilMs`. */
  claimReceipts(claim: ReceiptClaim): Promise<ClaimedReceipt[]>
  /** Forgets receipts that were told, unless the claim has run out and is another's. */
  finishReceipts(told: readonly ClaimedReceipt[]): Promise<void>
} & SandboxTemplates

/** Its memory of the templates that were put before it. A name may stand several times: accounts share the sandbox. */
export type SandboxTemplates = {
  /** Resolves to its id once it is durable. */
  plantTemplate(template: TemplateKey & { decidedAtMs: number }): Promise<number>
  /** The one of that name and language that was decided first; null when there is none. */
  findTemplate(key: TemplateKey): Promise<PlantedTemplate | null>
  /** Takes the newest one away; no error when there is none. */
  removeTemplate(key: TemplateKey): Promise<void>
  /** When the next verdict that was not told is due, in ms since the epoch; null when none waits. */
  nextVerdictAt(connectionId: ConnectionId, nowMs: number): Promise<number | null>
  /** Takes what is due, oldest first; hidden from other nodes until `claimedUntilMs`. */
  claimVerdicts(claim: ReceiptClaim): Promise<PlantedTemplate[]>
  /** Notes that these were told. */
  finishVerdicts(ids: readonly number[]): Promise<void>
}

export type TemplateKey = { connectionId: ConnectionId; name: string; language: string }

/** `decidedAtMs`: when it is approved or rejected, by its name. */
export type PlantedTemplate = { id: number; name: string; language: string; decidedAtMs: number }

export type RestWish = {
  accountId: AccountId
  recipient: string
  acceptedAtMs: number
  nowMs: number
  restMs: number
}

export type ReceiptClaim = {
  connectionId: ConnectionId
  nowMs: number
  claimedUntilMs: number
  limit: number
}

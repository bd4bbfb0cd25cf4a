import type { Io, Link } from '../provider.ts'

/**
 * A web session: we are linked as a device to a chat-app account of a user. Beyond
 * `Link` and `Io` it has keys, which must never be lost, and a state that
 * is shown while it is being linked.
 */

/** The keys of the linked device, as text by kind and id. */
export type SessionKeys = {
  read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * Writes all changes or none; null deletes. Waits for a database that is away. Rejects with `NotTheHolder`
   * once another node holds the session; nothing is written then.
   */
  write(changes: readonly KeyChange[]): Promise<void>
}

export type KeyChange = { kind: string; id: string; value: string | null }

/** Thrown when another node holds the session by now. */
export class NotTheHolder extends Error {
  constructor() {
    super('another node holds this session')
    this.name = 'NotTheHolder'
  }
}

/** The states of a session, as they are reported. */
export type SessionReport =
  | { state: 'connecting' }
  /** To be scanned or typed on the phone until `untilMs`, in ms since the epoch. */
  | { state: 'qr'; text: string; untilMs: number }
  | { state: 'pairing_code'; code: string; untilMs: number }
  | { state: 'open'; phone: string | null; pushName: string | null }
  /** `reconnects`: it reconnects by itself; otherwise it needs a restart. */
  | { state: 'closed'; detail: string; reconnects: boolean }
  /** The person or the chat app has unlinked us: the keys are useless now. */
  | { state: 'logged_out'; detail: string }

export type SessionChat = {
  /** E.164 of a person, or a group id. */
  chatId: string
  kind: 'user' | 'group'
  name: string | null
  /** In ms since the epoch. */
  lastMessageAtMs: number | null
}

/** What a session is given in addition to `Io`. */
export type SessionIo = Io & {
  accountId: string
  /** The session's name, which is `to` of its inbound messages. */
  name: string
  /** E.164 of the phone to link by a pairing code; null to link by a QR code. */
  askedPhone: string | null
  /** When it was linked, in ms since the epoch; null if never. */
  pairedAtMs: number | null
  keys: SessionKeys
  /** The text and recipient of a message of this session, if still stored: for a recipient who could not decrypt it and asks again. */
  sentText(messageId: string): Promise<SentText | null>
  reportState(news: SessionReport): void
  reportChats(chats: readonly SessionChat[]): void
}

export type SentText = { to: string; text: string }

export type SessionLink = Link & {
  /** Sends per minute that the session's age allows now. */
  pace(): SessionPace
  /** Unlinks us at the chat app, if that succeeds before `signal` aborts. */
  logOut(signal: AbortSignal): Promise<void>
}

export type SessionPace = {
  messagesPerMinute: number
  /** The rate once the session is warm. */
  fullMessagesPerMinute: number
  /** When it will be warm, in ms since the epoch; null when it is. */
  warmAtMs: number | null
}

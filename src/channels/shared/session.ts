import type { Io, Link } from '../provider.ts'

/**
 * A web session: an account of the chat app's own users, which we are linked to
 * as a device. Beside `Link` and `Io` it has keys that it must never lose, and a
 * state that people look at while they link it.
 */

/** What makes us the linked device, as text by kind and id. */
export type SessionKeys = {
  read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * All of it or nothing; null forgets. Waits for a database that is away. Rejects with `NotTheHolder`
   * once another node holds the session: nothing was written then, nor will be.
   */
  write(changes: readonly KeyChange[]): Promise<void>
}

export type KeyChange = { kind: string; id: string; value: string | null }

/** Another node holds the session by now. */
export class NotTheHolder extends Error {
  constructor() {
    super('another node holds this session')
    this.name = 'NotTheHolder'
  }
}

/** How a session stands, as it changes. */
export type SessionNews =
  | { state: 'connecting' }
  /** To be scanned, or typed, on the phone until then; in ms since the epoch. */
  | { state: 'qr'; text: string; untilMs: number }
  | { state: 'pairing_code'; code: string; untilMs: number }
  | { state: 'open'; phone: string | null; pushName: string | null }
  /** `goesOn`: it is tried again by itself. */
  | { state: 'closed'; detail: string; goesOn: boolean }
  /** The person, or the chat app, has unlinked us: the keys are worth nothing any more. */
  | { state: 'logged_out'; detail: string }

export type SessionChat = {
  /** E.164 of a person, or a group id. */
  chatId: string
  kind: 'user' | 'group'
  name: string | null
  /** In ms since the epoch. */
  lastMessageAtMs: number | null
}

/** What a session is given beside what every link has. */
export type SessionIo = Io & {
  accountId: string
  /** Its name: what its inbound messages are written to. */
  name: string
  /** E.164 of the phone that is to be linked by a code; null for a QR code. */
  askedPhone: string | null
  /** When it was linked, in ms since the epoch; null where it never was. */
  pairedAtMs: number | null
  keys: SessionKeys
  /** The words of a message that went over this session, where they are still known, and to whom: for a recipient who could not read it. */
  sentText(messageId: string): Promise<SentText | null>
  tell(news: SessionNews): void
  chats(chats: readonly SessionChat[]): void
}

export type SentText = { to: string; text: string }

export type SessionLink = Link & {
  /** Sends of a minute, as its age allows now. */
  pace(): SessionPace
  /** Takes us off the phone's list of linked devices, as far as that can be done before `signal` aborts. */
  logOut(signal: AbortSignal): Promise<void>
}

export type SessionPace = {
  messagesPerMinute: number
  /** Once it is warm. */
  fullMessagesPerMinute: number
  /** In ms since the epoch; null when it is warm. */
  warmAtMs: number | null
}

import { type Static, Type } from 'typebox'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

/** The states of a web session (docs/states.md). */
export const SESSION_STATES = ['connecting', 'qr', 'pairing_code', 'open', 'closed', 'logged_out'] as const
export type SessionState = (typeof SESSION_STATES)[number]

export const SESSION_NAME_PATTERN = '^[A-Za-z0-9_-]{1,64}$'

/** Part of every response that shows a session: a person who links a phone must have read it. */
export const BAN_NOTICE =
  'WhatsApp does not provide web sessions for programs and may ban the phone number without notice, especially for messages to people who did not ask for them. Use a number that you can afford to lose, write to people who know you, keep to the rate limit, and never send one-time codes this way.'

export const WebSessionCreate = Type.Object({
  name: Type.String({
    description: 'Letters, digits, _ and -, at most 64; the accountId of its conversations',
  }),
  phone: Type.Optional(
    Type.String({
      maxLength: 30,
      description: 'E.164; the session is linked by a code to enter on this phone instead of a QR code',
    }),
  ),
})
export type WebSessionCreate = Static<typeof WebSessionCreate>

const SessionName = Type.String({ pattern: SESSION_NAME_PATTERN })
export const WebSessionParams = Type.Object({ name: SessionName })

export const WebSessionView = Type.Object({
  name: SessionName,
  connectionId: Type.String({ description: 'The connectionId of its messages and inbound messages' }),
  state: oneOf(SESSION_STATES),
  detail: nullable(Type.String({ description: 'An explanation of the state' })),
  phone: nullable(Type.String({ description: "The linked account's number, in E.164" })),
  pushName: nullable(Type.String()),
  qr: nullable(
    Type.Object({
      text: Type.String({ description: 'The content of the QR code, to render it yourself' }),
      svg: Type.String({ description: 'The QR code as an image' }),
      expiresAt: IsoTime,
    }),
  ),
  pairingCode: nullable(Type.Object({ code: Type.String(), expiresAt: IsoTime })),
  pace: Type.Object({
    messagesPerMinute: Type.Number({ description: 'The current limit' }),
    fullMessagesPerMinute: Type.Number({ description: 'The limit after the warm-up' }),
    warmAt: nullable(IsoTime),
  }),
  sandbox: Type.Boolean({ description: 'Created by a test key; needs no phone' }),
  notice: Type.String(),
  createdAt: IsoTime,
  pairedAt: nullable(IsoTime),
  openedAt: nullable(IsoTime),
  changedAt: IsoTime,
})
export type WebSessionView = Static<typeof WebSessionView>

/** A row of the list, without the secrets that link a phone. */
export const WebSessionRow = Type.Omit(WebSessionView, ['qr', 'pairingCode', 'notice'])
export type WebSessionRow = Static<typeof WebSessionRow>

export const CHAT_KINDS = ['user', 'group'] as const

export const WebSessionChat = Type.Object({
  chatId: Type.String({ description: 'The value for `to` and conversationContext.chatId of a send' }),
  kind: oneOf(CHAT_KINDS),
  name: nullable(Type.String()),
  lastMessageAt: nullable(IsoTime),
  conversationContext: Type.Object({
    moduleType: Type.Literal('chatapp_web'),
    accountId: Type.String(),
    chatId: Type.String(),
  }),
})
export type WebSessionChat = Static<typeof WebSessionChat>

export const WebSessionChatQuery = pageQuery({ kind: Type.Optional(oneOf(CHAT_KINDS)) })
export type WebSessionChatQuery = Static<typeof WebSessionChatQuery>

/** `data` of the `session.*` events. */
export type SessionEventData = {
  name: string
  connectionId: string
  state: SessionState
  phone: string | null
  detail: string | null
}

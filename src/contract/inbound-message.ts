import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

export const KEYWORDS = ['stop', 'start'] as const

/** A message from a person to one of our numbers; also `data` of `inbound.message`. */
export const InboundMessageView = Type.Object({
  id: Type.String(),
  channel: oneOf(CHANNELS),
  from: Type.String({ description: 'E.164 where it is a number that can be written to' }),
  to: Type.String({ description: 'What they wrote to: E.164, or a short code' }),
  text: nullable(Type.String()),
  button: nullable(Type.String({ description: 'What a button that they pressed says to programs' })),
  keyword: nullable(oneOf(KEYWORDS, { description: 'What it meant to suppressions' })),
  receivedAt: IsoTime,
  sentAt: nullable(Type.String({ description: 'By the provider’s word, where it says' })),
  provider: Type.String(),
  connectionId: Type.String(),
  providerMessageId: Type.String({ description: 'The provider’s id of it' }),
  conversationContext: Type.Null({ description: 'SMS has none' }),
})
export type InboundMessageView = Static<typeof InboundMessageView>

export const InboundMessageQuery = pageQuery({
  from: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'A phone in E.164' })),
  channel: Type.Optional(oneOf(CHANNELS)),
  createdAfter: Type.Optional(IsoTime),
  createdBefore: Type.Optional(IsoTime),
})
export type InboundMessageQuery = Static<typeof InboundMessageQuery>

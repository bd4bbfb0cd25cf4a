import { type Static, Type } from 'typebox'
import { ConversationView } from './conversation.ts'
import { ATTACHMENT_TYPES, CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

export const KEYWORDS = ['stop', 'start'] as const

/** A file that came with a message. */
export const InboundMediaView = Type.Object({
  type: oneOf(ATTACHMENT_TYPES, { description: 'A voice message is `audio`, a sticker `image`' }),
  mimetype: nullable(Type.String()),
  fileName: nullable(Type.String()),
  sizeBytes: nullable(Type.Integer({ description: 'Where the provider says it' })),
  path: nullable(
    Type.String({
      description: 'GET it with the API key; null where the file cannot be had from the provider',
    }),
  ),
})
export type InboundMediaView = Static<typeof InboundMediaView>

/** A location in a message. */
export const InboundLocation = Type.Object({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: nullable(Type.String()),
  address: nullable(Type.String()),
})
export type InboundLocation = Static<typeof InboundLocation>

/** A contact card in a message. */
export const InboundCard = Type.Object({
  id: nullable(
    Type.String({
      description:
        'The platform’s id of them, where it says it: `contact.id` of the message is their own card',
    }),
  ),
  name: nullable(Type.String()),
  phones: Type.Array(Type.String({ description: 'E.164 where it says its country, else as it was written' })),
  emails: Type.Array(Type.String()),
})
export type InboundCard = Static<typeof InboundCard>

/** A message from a person to one of our numbers, sessions or bots; also `data` of `inbound.message`. */
export const InboundMessageView = Type.Object({
  id: Type.String(),
  channel: oneOf(CHANNELS),
  from: Type.String({
    description:
      'E.164 where it is a number that can be written to; of a bot the chat id; in a group the person',
  }),
  to: Type.String({
    description: 'What they wrote to: E.164, a short code, the name of a session, the id of a bot',
  }),
  text: nullable(
    Type.String({
      description: 'The caption where there is media; what stands on a button that they pressed',
    }),
  ),
  button: nullable(
    Type.String({ description: 'What a button that they pressed says to programs: its id or payload' }),
  ),
  buttonTitle: nullable(Type.String({ description: 'What stands on that button' })),
  media: Type.Array(InboundMediaView),
  location: nullable(InboundLocation),
  contacts: Type.Array(InboundCard, { description: 'Contact cards that they sent' }),
  replyTo: nullable(Type.String({ description: 'The provider’s id of the message that this one answers' })),
  contact: nullable(
    Type.Object(
      { id: nullable(Type.String()), name: nullable(Type.String()) },
      { description: 'As the platform knows the person' },
    ),
  ),
  keyword: nullable(oneOf(KEYWORDS, { description: 'What it meant to suppressions' })),
  receivedAt: IsoTime,
  sentAt: nullable(Type.String({ description: 'By the provider’s word, where it says' })),
  provider: Type.String(),
  connectionId: Type.String(),
  providerMessageId: Type.String({ description: 'The provider’s id of it' }),
  conversationContext: nullable(ConversationView),
})
export type InboundMessageView = Static<typeof InboundMessageView>

const address = (description: string, maxLength = 100) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))

const FILTERS = {
  from: address('A phone in E.164, a chat id'),
  to: address('A phone in E.164, a short code, a session, a bot'),
  channel: Type.Optional(oneOf(CHANNELS)),
  accountId: address('Of the conversationContext'),
  conversationKey: address('Of the conversationContext', 500),
  createdAfter: Type.Optional(IsoTime),
  createdBefore: Type.Optional(IsoTime),
}
export const InboundMessageFilters = Type.Object(FILTERS)
export type InboundMessageFilters = Static<typeof InboundMessageFilters>

export const InboundMessageQuery = pageQuery(FILTERS)
export type InboundMessageQuery = Static<typeof InboundMessageQuery>

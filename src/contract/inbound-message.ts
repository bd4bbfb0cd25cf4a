import { type Static, Type } from 'typebox'
import { ConversationView } from './conversation.ts'
import { ATTACHMENT_TYPES, CHANNELS } from './enums.ts'
import { GivenTime, IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

export const KEYWORDS = ['stop', 'start'] as const

/** A file that came with a message. */
export const InboundMediaView = Type.Object({
  type: oneOf(ATTACHMENT_TYPES, { description: 'A voice message is `audio`, a sticker is `image`' }),
  mimetype: nullable(Type.String()),
  fileName: nullable(Type.String()),
  sizeBytes: nullable(Type.Integer({ description: 'Null if the provider does not report it' })),
  path: nullable(
    Type.String({
      description:
        'The path to download the file, with the API key; null if the provider does not offer the file',
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
        "The person's id on the platform, if known; equal to `contact.id` of the message for the " +
        "sender's own card",
    }),
  ),
  name: nullable(Type.String()),
  phones: Type.Array(Type.String({ description: 'E.164 if the number has a country code, else as written' })),
  emails: Type.Array(Type.String()),
})
export type InboundCard = Static<typeof InboundCard>

/** A message from a person to one of our numbers, sessions or bots; also `data` of `inbound.message`. */
export const InboundMessageView = Type.Object({
  id: Type.String(),
  channel: oneOf(CHANNELS),
  from: Type.String({
    description:
      'E.164 for a number that can receive messages; for a bot, the chat id; in a group, the person',
  }),
  to: Type.String({
    description: 'The address that received the message: E.164, a short code, a session name or a bot id',
  }),
  text: nullable(
    Type.String({
      description: 'The caption if there is media; the label of a pressed button',
    }),
  ),
  button: nullable(Type.String({ description: 'The id or payload of a pressed button' })),
  buttonTitle: nullable(Type.String({ description: 'The label of the pressed button' })),
  media: Type.Array(InboundMediaView),
  location: nullable(InboundLocation),
  contacts: Type.Array(InboundCard, { description: 'Contact cards in the message' }),
  replyTo: nullable(
    Type.String({ description: "The provider's id of the message that this one replies to" }),
  ),
  contact: nullable(
    Type.Object(
      { id: nullable(Type.String()), name: nullable(Type.String()) },
      { description: 'The person as the platform knows them' },
    ),
  ),
  keyword: nullable(oneOf(KEYWORDS, { description: 'The keyword of an opt-out or opt-in' })),
  receivedAt: IsoTime,
  sentAt: nullable(Type.String({ description: 'According to the provider, if it reports the time' })),
  provider: Type.String(),
  connectionId: Type.String(),
  providerMessageId: Type.String({ description: "The provider's id of the message" }),
  conversationContext: nullable(ConversationView),
})
export type InboundMessageView = Static<typeof InboundMessageView>

const address = (description: string, maxLength = 100) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))

const FILTERS = {
  from: address('A phone number in E.164, or a chat id'),
  to: address('A phone number in E.164, a short code, a session name or a bot id'),
  channel: Type.Optional(oneOf(CHANNELS)),
  accountId: address('Of its conversationContext'),
  conversationKey: address('Of its conversationContext', 500),
  createdAfter: Type.Optional(GivenTime),
  createdBefore: Type.Optional(GivenTime),
}
export const InboundMessageFilters = Type.Object(FILTERS)
export type InboundMessageFilters = Static<typeof InboundMessageFilters>

export const InboundMessageQuery = pageQuery(FILTERS)
export type InboundMessageQuery = Static<typeof InboundMessageQuery>

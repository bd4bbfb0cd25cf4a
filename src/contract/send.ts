import { type Static, Type } from 'typebox'
import { MODULE_TYPES } from './conversation.ts'
import { ATTACHMENT_TYPES, CHANNELS, MESSAGE_TYPES } from './enums.ts'

/** An e-mail address has at most 254 characters, a chat id fewer. */
const RECIPIENT_MAX = 320
const Recipient = Type.String({
  minLength: 1,
  maxLength: RECIPIENT_MAX,
  description: 'E.164 phone, e-mail address, chat-app group id (`<id>@g.us`) or bot chat id',
})
/** 500,000 characters hold any HTML mail; each channel has its own, lower limit. */
export const TEXT_MAX = 500_000
/** Carriers reassemble as many everywhere, and Twilio takes as many (1,600 characters). */
export const MAX_PARTS_OF_SMS = 10
const Key = Type.String({ minLength: 1, maxLength: 200 })
const Reference = Type.String({ minLength: 1, maxLength: 200 })
const Address = Type.String({ minLength: 1, maxLength: 2_048 })

export const Content = Type.Object({
  text: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: 'The text, or the caption of media' })),
  otpCode: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      description: 'A one-time code, for messageType otp without a template',
    }),
  ),
  // Its length is checked where it is read: other channels ignore it.
  subject: Type.Optional(
    Type.String({
      description: 'For e-mail: 1 to 255 characters in one line; other channels ignore it',
    }),
  ),
})

export const Attachment = Type.Object({
  type: Type.Enum(ATTACHMENT_TYPES),
  publicUrl: Type.Optional(Address),
  // An empty one is refused where it is read: bots ignore it.
  base64: Type.Optional(Type.String({ description: 'Raw base64, without a data: prefix; bots ignore it' })),
  mimetype: Type.Optional(Type.String({ minLength: 3, maxLength: 255 })),
  fileName: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  assetId: Type.Optional(Reference),
})

export const ConversationContext = Type.Object({
  moduleType: Type.Enum(MODULE_TYPES),
  accountId: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Session name, bot id, or official sender id',
  }),
  chatId: Type.String({ minLength: 1, maxLength: 200, description: 'Group or user chat id' }),
  contactId: Type.Optional(Reference),
  conversationKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Stored with the message; by default `moduleType:accountId:chatId`',
    }),
  ),
})

export const TemplateUse = Type.Object({
  id: Type.Optional(Reference),
  key: Type.Optional(Reference),
  language: Type.Optional(Type.String({ minLength: 2, maxLength: 20 })),
  variablesIndexed: Type.Optional(Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100 })),
  variablesNamed: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4_096 }))),
  buttonVariables: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, maximum: 9 }),
        subType: Type.Optional(Type.String({ maxLength: 20 })),
        text: Type.String({ maxLength: 2_000 }),
      }),
      { maxItems: 10 },
    ),
  ),
  headerAssetId: Type.Optional(Reference),
  headerMediaUrl: Type.Optional(Address),
  headerMediaType: Type.Optional(Type.Enum(['image', 'video', 'document'] as const)),
  header: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_048, description: 'Alias of headerMediaUrl' }),
  ),
})

export const SendOptions = Type.Object({
  scheduleAt: Type.Optional(
    Type.String({ maxLength: 40, description: 'ISO 8601, in the future, at most a year ahead' }),
  ),
  idempotencyKey: Type.Optional(Key),
  metadata: Type.Optional(
    Type.Unknown({ description: 'Any JSON of at most 16,384 characters; stored with the message' }),
  ),
  priority: Type.Optional(Type.Unknown({ deprecated: true, description: 'Ignored' })),
})

export const SenderChoice = Type.Object({
  id: Type.Optional(Reference),
  name: Type.Optional(Reference),
  officialId: Type.Optional(Reference),
})

/** Recipients of one batch. */
const MAX_BATCH = 100
/** An empty recipient is accepted here, so that it fails alone and not the whole batch. */
const OneOfBatch = Type.String({ maxLength: RECIPIENT_MAX })

const FIELDS = {
  text: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: 'Shortcut for content.text' })),
  channel: Type.Optional(Type.Enum(['auto', ...CHANNELS] as const)),
  messageType: Type.Optional(Type.Enum(MESSAGE_TYPES)),
  content: Type.Optional(Content),
  attachment: Type.Optional(Attachment),
  conversationContext: Type.Optional(ConversationContext),
  template: Type.Optional(TemplateUse),
  options: Type.Optional(SendOptions),
  sender: Type.Optional(SenderChoice),
  senderId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Alias of sender.id' })),
  officialSenderId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Alias of sender.officialId' }),
  ),
  idempotencyKey: Type.Optional(Key),
}

/** A send to one recipient. */
export const SingleSendBody = Type.Object({ to: Recipient, ...FIELDS })
export type SingleSendBody = Static<typeof SingleSendBody>

/** The body of `POST /api/v2/messages/send`, for one recipient or a batch. */
export const SendBody = Type.Object({
  to: Type.Union([Recipient, Type.Array(OneOfBatch, { minItems: 1, maxItems: MAX_BATCH })]),
  ...FIELDS,
})
export type SendBody = Static<typeof SendBody>

export const SENDER_SOURCES = [
  'request',
  'account_default',
  'platform',
  'official_default',
  'session',
  'bot',
] as const
export type SenderSource = (typeof SENDER_SOURCES)[number]

/** The answer to a single send. */
export const SendResult = Type.Object({
  success: Type.Literal(true),
  requestId: Type.String(),
  status: Type.Enum(['sent', 'queued', 'scheduled'] as const),
  scheduledAt: Type.Optional(Type.String()),
  resolved: Type.Object({
    channel: Type.Enum(CHANNELS),
    provider: Type.String(),
    senderSource: Type.Enum(SENDER_SOURCES),
    channels: Type.Array(Type.Enum(CHANNELS)),
  }),
  billing: Type.Object({
    estimatedCost: Type.Number(),
    currency: Type.String(),
    parts: Type.Optional(Type.Integer({ description: 'Only for SMS' })),
  }),
  tracking: Type.Object({
    messageId: Type.String(),
    usageId: Type.String(),
    queueId: Type.Union([Type.String(), Type.Null()]),
  }),
})
export type SendResult = Static<typeof SendResult>

/** The answer to a batch: an item per recipient, in the order of `to`. */
export const BatchResult = Type.Object({
  success: Type.Boolean({ description: 'At least one recipient succeeded.' }),
  batch: Type.Literal(true),
  requestId: Type.String(),
  summary: Type.Object({
    total: Type.Integer(),
    sent: Type.Integer(),
    queued: Type.Integer({ description: 'Includes scheduled ones.' }),
    failed: Type.Integer(),
  }),
  results: Type.Array(
    Type.Object({
      to: Type.String(),
      success: Type.Boolean(),
      requestId: Type.String(),
      status: Type.Enum(['sent', 'queued', 'scheduled', 'failed'] as const),
      messageId: Type.Optional(
        Type.String({
          description: 'For an accepted recipient, and for a failed one whose message may still be sent.',
        }),
      ),
      code: Type.Optional(Type.String({ description: 'For a failed recipient.' })),
      error: Type.Optional(Type.String()),
    }),
  ),
})
export type BatchResult = Static<typeof BatchResult>

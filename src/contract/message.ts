import { type Static, Type } from 'typebox'
import { ConversationView } from './conversation.ts'
import { ATTACHMENT_TYPES, CHANNELS, KEY_MODES, MESSAGE_STATUSES, MESSAGE_TYPES } from './enums.ts'
import { GivenTime, IsoTime, nullable, oneOf, pageQuery, RecipientFilter } from './envelope.ts'
import type { ErrorCode } from './errors.ts'
import { SENDER_SOURCES } from './send.ts'

/** Replaces the text of an OTP wherever it could be read later. */
export const MASKED = '••••••'

/** A message as lists show it. */
export const Message = Type.Object({
  id: Type.String(),
  messageId: Type.String({ description: 'The same as `id`' }),
  requestId: Type.String(),
  usageId: Type.String(),
  mode: oneOf(KEY_MODES, { description: 'The mode of the key that sent it' }),
  status: oneOf(MESSAGE_STATUSES),
  channel: oneOf(CHANNELS),
  channels: Type.Array(oneOf(CHANNELS), { description: 'The channels that routing considered, in order' }),
  messageType: oneOf(MESSAGE_TYPES),
  to: Type.String(),
  country: nullable(Type.String()),
  sender: nullable(Type.String()),
  senderSource: oneOf(SENDER_SOURCES),
  provider: Type.String(),
  connectionId: Type.String(),
  providerMessageId: nullable(Type.String()),
  text: nullable(Type.String({ description: `${MASKED} for an OTP` })),
  subject: nullable(Type.String()),
  html: Type.Boolean(),
  attachment: nullable(
    Type.Object({
      type: oneOf(ATTACHMENT_TYPES),
      mimetype: Type.String(),
      fileName: Type.String(),
      publicUrl: nullable(Type.String()),
      sizeBytes: nullable(Type.Integer()),
    }),
  ),
  conversationContext: nullable(ConversationView),
  templateId: nullable(Type.String()),
  bulkJobId: nullable(Type.String()),
  metadata: Type.Unknown(),
  billing: Type.Object({
    cost: Type.Number(),
    currency: Type.String(),
    parts: nullable(Type.Integer()),
    source: oneOf(['wallet', 'pool', 'none'] as const),
    state: oneOf(['held', 'captured', 'released', 'none'] as const),
  }),
  attempts: Type.Integer(),
  errorCode: nullable(Type.String()),
  errorMessage: nullable(Type.String()),
  createdAt: IsoTime,
  scheduledAt: nullable(IsoTime),
  sentAt: nullable(IsoTime),
  deliveredAt: nullable(IsoTime),
  readAt: nullable(IsoTime),
  endedAt: nullable(IsoTime),
})
export type Message = Static<typeof Message>

/** One step in the life of a message. */
export const TimelineEntry = Type.Object({
  at: IsoTime,
  event: oneOf(['status', 'attempt'] as const),
  status: Type.Optional(oneOf(MESSAGE_STATUSES)),
  attempt: Type.Optional(Type.Integer()),
  outcome: Type.Optional(
    oneOf(['accepted', 'rejected', 'retry', 'throttled', 'unknown', 'pending'] as const),
  ),
  unknownAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'For an attempt whose outcome was unknown for some time: since when. ISO 8601, UTC, with ' +
        'milliseconds.',
    }),
  ),
  settledAt: Type.Optional(nullable(IsoTime)),
  provider: Type.Optional(Type.String()),
  connectionId: Type.Optional(Type.String()),
  providerCode: Type.Optional(nullable(Type.String())),
  explanation: Type.Optional(nullable(Type.String({ description: "What the provider's code means" }))),
  detail: Type.Optional(nullable(Type.String())),
})
export type TimelineEntry = Static<typeof TimelineEntry>

export const MessageWithTimeline = Type.Object({ ...Message.properties, timeline: Type.Array(TimelineEntry) })
export type MessageWithTimeline = Static<typeof MessageWithTimeline>

/** Error codes of a message that was not sent, or not yet. */
export const MESSAGE_ERRORS = [
  'RECIPIENT_REJECTED',
  'RECIPIENT_SUPPRESSED',
  'CHATAPP_NOT_REGISTERED',
  'MESSAGE_REJECTED',
  'PROVIDER_UNAVAILABLE',
  'VERIFICATION_EXPIRED',
  'INTERNAL_ERROR',
] as const satisfies readonly ErrorCode[]
export type MessageError = (typeof MESSAGE_ERRORS)[number]

/** Filters of the account's messages, for lists and streams. */
export const MessageFilters = Type.Object({
  status: Type.Optional(oneOf(MESSAGE_STATUSES)),
  channel: Type.Optional(oneOf(CHANNELS)),
  messageType: Type.Optional(oneOf(MESSAGE_TYPES)),
  mode: Type.Optional(oneOf(KEY_MODES, { description: 'The mode of the key that sent it; both if absent.' })),
  to: Type.Optional(RecipientFilter),
  errorCode: Type.Optional(oneOf(MESSAGE_ERRORS)),
  templateId: Type.Optional(Type.String({ description: 'Nothing matches a malformed id' })),
  bulkJobId: Type.Optional(Type.String({ description: 'Nothing matches a malformed id' })),
  createdAfter: Type.Optional(GivenTime),
  createdBefore: Type.Optional(GivenTime),
})
export type MessageFilters = Static<typeof MessageFilters>

export const MessageQuery = pageQuery(MessageFilters.properties)
export type MessageQuery = Static<typeof MessageQuery>

/** The policy of a connection; `GET /messages/policies` lists them. */
export const ProviderMessagePolicy = Type.Object({
  providerKey: Type.String(),
  channel: oneOf(CHANNELS),
  enabled: Type.Boolean(),
  allowedTypes: Type.Array(oneOf(MESSAGE_TYPES)),
  sendModeByType: Type.Record(Type.String(), Type.String()),
  requiresApprovedTemplate: Type.Boolean(),
  supportsUserSender: Type.Boolean(),
  supportsSystemSenderFallback: Type.Boolean(),
  priorityOrder: Type.Integer(),
  retryPolicy: Type.Object({ maxAttempts: Type.Integer(), backoffMs: Type.Integer() }),
})
export type ProviderMessagePolicy = Static<typeof ProviderMessagePolicy>

import { type Static, Type } from 'typebox'
import { ConversationView } from './conversation.ts'
import { CHANNELS, KEY_MODES, MESSAGE_TYPES } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

/** The event types. */
export const EVENT_TYPES = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.undelivered',
  'message.failed',
  'message.unknown',
  'message.cancelled',
  'message.expired',
  'verification.sent',
  'verification.verified',
  'verification.failed',
  'verification.superseded',
  'verification.blocked',
  'bulk.queued',
  'bulk.rejected',
  'bulk.running',
  'bulk.paused',
  'bulk.completed',
  'bulk.cancelled',
  'inbound.message',
  'bot.subscriber.started',
  'bot.subscriber.blocked',
  'bot.subscriber.returned',
  'bot.unauthorized',
  'bot.problem',
  'suppression.created',
  'suppression.deleted',
  'sms_sender.approved',
  'sms_sender.rejected',
  'template.pending',
  'template.approved',
  'template.rejected',
  'template.disabled',
  'session.pairing',
  'session.open',
  'session.closed',
  'session.logged_out',
  'wallet.low',
  'webhook.disabled',
  'webhook.test',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Every type, including those of later versions. */
export const ANY_EVENT = '*'

/** `message.*` of `message.sent`; `bot.*` and `bot.subscriber.*` of `bot.subscriber.started`. */
type FamilyOf<T extends string> = T extends `${infer Word}.${infer Rest}`
  ? `${Word}.*` | (Rest extends `${string}.${string}` ? `${Word}.${FamilyOf<Rest>}` : never)
  : never
export type EventFamily = FamilyOf<EventType>

/** Families: all types with a prefix, including those of later versions. */
export const EVENT_FAMILIES: readonly EventFamily[] = [...new Set(EVENT_TYPES.flatMap(familiesOf))]

function familiesOf(type: EventType): EventFamily[] {
  const words = type.split('.')
  return words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('.')}.*` as EventFamily)
}

/** What an endpoint may subscribe to. */
export const LISTENED = [...EVENT_TYPES, ...EVENT_FAMILIES, ANY_EVENT] as const
export type Listened = (typeof LISTENED)[number]

/** The types of a subscription; null for all types. */
export function expandEventTypes(listened: readonly Listened[]): EventType[] | null {
  if (listened.includes(ANY_EVENT)) return null
  const named = new Set<Listened>(listened)
  return EVENT_TYPES.filter(type => named.has(type) || familiesOf(type).some(family => named.has(family)))
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** `request`: by PATCH; `failing`: every attempt failed for five days; `gone`: the endpoint answered 410. */
export const DISABLED_REASONS = ['request', 'failing', 'gone'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'An https URL at a public address; redirects are not followed',
})
const Description = Type.String({ maxLength: 500 })
const EventTypeList = Type.Array(oneOf(LISTENED), {
  minItems: 1,
  maxItems: 50,
  description:
    '`*` is every type, `message.*` every type with that prefix, both including types of later ' + 'versions',
})

export const WebhookCreate = Type.Object({
  url: Url,
  description: Type.Optional(Description),
  events: Type.Optional(EventTypeList),
  enabled: Type.Optional(Type.Boolean()),
})
export type WebhookCreate = Static<typeof WebhookCreate>

export const WebhookUpdate = Type.Object({
  url: Type.Optional(Url),
  description: Type.Optional(Description),
  events: Type.Optional(EventTypeList),
  enabled: Type.Optional(Type.Boolean()),
})
export type WebhookUpdate = Static<typeof WebhookUpdate>

/** A webhook endpoint as its account sees it. */
export const WebhookView = Type.Object({
  id: Type.String(),
  url: Type.String(),
  description: Type.String(),
  events: Type.Array(oneOf(LISTENED)),
  enabled: Type.Boolean(),
  failingSince: nullable(IsoTime),
  disabledAt: nullable(IsoTime),
  disabledReason: nullable(oneOf(DISABLED_REASONS)),
  previousSecretValidUntil: nullable(IsoTime),
  createdAt: IsoTime,
})
export type WebhookView = Static<typeof WebhookView>

export const WebhookWithSecret = Type.Object({
  ...WebhookView.properties,
  secret: Type.String({ description: '`whsec_…`; only this response contains it' }),
})
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** The delivery of one event to one endpoint. */
export const DeliveryView = Type.Object({
  id: Type.String(),
  eventId: Type.String({ description: 'The `webhook-id` header of every attempt' }),
  eventType: oneOf(EVENT_TYPES),
  messageId: nullable(Type.String()),
  status: oneOf(DELIVERY_STATUSES),
  attempts: Type.Integer(),
  nextAttemptAt: nullable(IsoTime),
  lastAttemptAt: nullable(IsoTime),
  lastStatus: nullable(
    Type.Integer({ description: 'The HTTP status of the last attempt that got a response' }),
  ),
  lastError: nullable(Type.String()),
  endedAt: nullable(IsoTime),
  replayOf: nullable(Type.String()),
  createdAt: IsoTime,
})
export type DeliveryView = Static<typeof DeliveryView>

export const DeliveryWithPayload = Type.Object({
  ...DeliveryView.properties,
  payload: nullable(
    Type.Object(
      { type: oneOf(EVENT_TYPES), id: Type.String(), timestamp: IsoTime, data: Type.Unknown() },
      { description: 'The request body; null if the event is no longer stored' },
    ),
  ),
})
export type DeliveryWithPayload = Static<typeof DeliveryWithPayload>

export const DeliveryQuery = pageQuery({
  status: Type.Optional(oneOf(DELIVERY_STATUSES)),
  eventType: Type.Optional(oneOf(EVENT_TYPES)),
})
export type DeliveryQuery = Static<typeof DeliveryQuery>

export const WebhookReplay = Type.Object({
  from: Type.String({ maxLength: 40, description: 'ISO 8601; inclusive' }),
  to: Type.String({ maxLength: 40, description: 'ISO 8601; exclusive' }),
  events: Type.Optional(EventTypeList),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'The `nextCursor` of the previous request' }),
  ),
})
export type WebhookReplay = Static<typeof WebhookReplay>

export const WebhookReplayed = Type.Object({
  success: Type.Literal(true),
  data: Type.Object({ queued: Type.Integer({ description: 'Number of queued deliveries' }) }),
  nextCursor: nullable(
    Type.String({ description: 'Pass it as `cursor`, with the same range, to queue the rest.' }),
  ),
})
export type WebhookReplayed = Static<typeof WebhookReplayed>

/** `data` of a `message.*` event, without the message's text. */
export const MessageEventData = Type.Object({
  id: Type.String({ description: 'The id of the message' }),
  messageId: Type.String({ description: 'The same as `id`' }),
  status: Type.String({ description: 'The status at the event; the message may have another one by now' }),
  mode: oneOf(KEY_MODES),
  channel: oneOf(CHANNELS),
  to: Type.String(),
  country: nullable(Type.String()),
  messageType: oneOf(MESSAGE_TYPES),
  sender: nullable(Type.String()),
  provider: Type.String(),
  cost: Type.Number(),
  currency: Type.String(),
  parts: nullable(Type.Integer()),
  errorCode: nullable(Type.String()),
  errorMessage: nullable(Type.String()),
  conversationContext: nullable(ConversationView),
  metadata: Type.Unknown(),
})
export type MessageEventData = Static<typeof MessageEventData>

/** Why a verification failed: five wrong codes, or no channel took its message. */
export const VERIFICATION_FAILURES = ['attempts_exhausted', 'not_sent'] as const

/** `data` of a `verification.*` event, without the code; `verification.blocked` has the block instead. */
export const VerificationEventData = Type.Object({
  verificationId: Type.String(),
  mode: oneOf(KEY_MODES),
  to: Type.String(),
  country: nullable(Type.String()),
  channel: oneOf(CHANNELS),
  messageId: Type.String({ description: 'The message of the valid code' }),
  resendCount: Type.Integer(),
  expiresAt: IsoTime,
  reason: nullable(oneOf(VERIFICATION_FAILURES)),
})
export type VerificationEventData = Static<typeof VerificationEventData>

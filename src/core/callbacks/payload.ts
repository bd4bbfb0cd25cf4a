import type { BulkEventData } from '../../contract/bulk.ts'
import type { EventType, MessageEventData, VerificationEventData } from '../../contract/webhook.ts'
import { toIso } from '../../lib/clock.ts'
import { fromUuid } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import type { EventId, EventMessage } from './store.ts'

/** `data` of a `sms_sender.*` event. */
export type SenderEventData = {
  id: string
  name: string
  status: 'approved' | 'rejected'
  reason: string | null
}

/** The body that is sent to an endpoint; the same at every attempt of an event. */
export function eventBody(
  event: { id: EventId; type: EventType; atMs: number; data: unknown },
  message: EventMessage | null,
): string {
  return JSON.stringify(eventPayload(event, message))
}

/** The body as an object. */
export function eventPayload(
  { id, type, atMs, data }: { id: EventId; type: EventType; atMs: number; data: unknown },
  message: EventMessage | null,
) {
  return { type, id, timestamp: toIso(atMs), data: dataOf({ type, data }, message) }
}

function dataOf({ type, data }: { type: EventType; data: unknown }, message: EventMessage | null): unknown {
  // The event also has the verification's first message, but only to order its deliveries.
  if (type === 'verification.blocked') return data
  if (type.startsWith('verification.')) return verificationData(data as StoredVerification)
  if (type.startsWith('bulk.')) return bulkData(data as StoredBulk)
  return message ? messageData(type, message) : data
}

/** A verification as events store it (migrations/functions/tell_verifications.sql). */
type StoredVerification = Omit<
  VerificationEventData,
  'verificationId' | 'mode' | 'messageId' | 'expiresAt'
> & { id: string; live: boolean; messageId: string; expiresAt: string }

function verificationData({ id, live, ...data }: StoredVerification): VerificationEventData {
  return {
    verificationId: fromUuid('ver', id),
    mode: live ? 'live' : 'test',
    to: data.to,
    country: data.country,
    channel: data.channel,
    messageId: fromUuid('msg', data.messageId),
    resendCount: data.resendCount,
    expiresAt: toIso(Date.parse(data.expiresAt)),
    reason: data.reason,
  }
}

/** A bulk job as events store it (migrations/0015, tell_bulk). */
type StoredBulk = Omit<BulkEventData, 'mode' | 'counts'> & { live: boolean } & Record<
    'sent' | 'failed' | 'cancelled',
    number
  >

function bulkData({ jobId, live, sent, failed, cancelled, ...data }: StoredBulk): BulkEventData {
  return {
    jobId: fromUuid('job', jobId),
    mode: live ? 'live' : 'test',
    name: data.name,
    status: data.status,
    messagesPerSecond: data.messagesPerSecond,
    pauseReason: data.pauseReason,
    total: data.total,
    validatedCount: data.validatedCount,
    counts: { pending: data.total - sent - failed - cancelled, sent, failed, cancelled },
    errorCode: data.errorCode,
    errorMessage: data.errorMessage,
  }
}

/** The status is the event's, not the message's, which may have changed since. */
function messageData(type: EventType, message: EventMessage): MessageEventData {
  const status = type.slice('message.'.length)
  const failed = status === 'failed' || status === 'undelivered' || status === 'expired'
  return {
    id: message.id,
    messageId: message.id,
    status,
    mode: message.live ? 'live' : 'test',
    channel: message.channel,
    to: message.recipient,
    country: message.country,
    messageType: message.messageType,
    sender: message.sender,
    provider: message.provider,
    cost: fromMicros(message.amount),
    currency: message.currency,
    parts: message.parts,
    errorCode: failed ? message.errorCode : null,
    errorMessage: failed ? message.errorDetail : null,
    conversationContext: message.context,
    metadata: message.metadata ?? null,
  }
}

/** The body of an SMS sender name's callback. */
export function senderBody(type: EventType, atMs: number, data: SenderEventData): string {
  const { id, name, status, reason } = data
  return JSON.stringify({ event: type, id, name, status, reason, occurredAt: toIso(atMs) })
}

import type { Seal } from '../../infra/seal.ts'
import { fromUuid } from '../../lib/ids.ts'
import { callbackContext } from '../senders/callback.ts'
import { eventBody, type SenderEventData, senderBody } from './payload.ts'
import { keyOfWebhookSecret, keysOfChosenSecret, signedHeaders } from './signature.ts'
import type { Claimed, Receiver, WebhookId } from './store.ts'

/** The HTTP request of one attempt. */
export type CallbackRequest = { url: string; headers: Record<string, string>; body: string }

const JSON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Posthorn' }

/**
 * Makes the request of an attempt at `nowMs`; null where the event or its
 * receiver is no longer stored. Throws SealBroken for secrets of another master key.
 */
export function makeRequest(
  delivery: Claimed,
  seal: Pick<Seal, 'open'>,
  nowMs: number,
): CallbackRequest | null {
  const { receiver } = delivery
  if (!receiver || !delivery.event || isMessageMissing(delivery)) return null
  return delivery.kind === 'endpoint'
    ? endpointRequest(delivery, delivery.event, receiver, seal, nowMs)
    : senderRequest(delivery, delivery.event, receiver, seal, nowMs)
}

function isMessageMissing({ eventType, message }: Claimed): boolean {
  return eventType.startsWith('message.') && message === null
}

type Event = NonNullable<Claimed['event']>

function endpointRequest(
  { eventId, eventType, targetUuid, message }: Claimed,
  event: Event,
  receiver: Receiver,
  seal: Pick<Seal, 'open'>,
  nowMs: number,
): CallbackRequest {
  const body = eventBody({ id: eventId, type: eventType, ...event }, message)
  const context = webhookContext(fromUuid('whk', targetUuid))
  const overlaps = receiver.previousUntilMs !== null && receiver.previousUntilMs > nowMs
  const sealed = [receiver.secret, overlaps ? receiver.previousSecret : null].filter(each => each !== null)
  const keys = sealed.map(secret => keyOfWebhookSecret(seal.open(secret, context).toString()))
  return {
    url: receiver.url,
    body,
    headers: { ...JSON_HEADERS, ...signedHeaders(eventId, nowMs, body, keys) },
  }
}

function senderRequest(
  { eventId, eventType, targetUuid }: Claimed,
  event: Event,
  receiver: Receiver,
  seal: Pick<Seal, 'open'>,
  nowMs: number,
): CallbackRequest {
  const body = senderBody(eventType, event.atMs, event.data as SenderEventData)
  const secret = seal.open(receiver.secret, callbackContext(fromUuid('snd', targetUuid))).toString()
  return {
    url: receiver.url,
    body,
    headers: {
      ...JSON_HEADERS,
      'x-service-event': eventType,
      authorization: `Bearer ${secret}`,
      ...signedHeaders(eventId, nowMs, body, keysOfChosenSecret(secret)),
    },
  }
}

/** The context that an endpoint's secrets are sealed for. */
export function webhookContext(id: WebhookId): string {
  return `webhook:${id}`
}

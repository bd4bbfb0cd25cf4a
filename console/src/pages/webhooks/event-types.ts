import type { EventType, WebhookCreate } from '../../../../sdk/index.ts'

export type Listened = NonNullable<WebhookCreate['eventTypes']>[number]
export const ANY = '*' satisfies Listened

/** What may be listened to, by what it is about. */
export const EVENT_GROUPS: readonly (readonly [string, readonly EventType[]])[] = [
  [
    'Messages',
    [
      'message.sent',
      'message.delivered',
      'message.read',
      'message.undelivered',
      'message.failed',
      'message.unknown',
      'message.cancelled',
    ],
  ],
  [
    'Inbound',
    ['inbound.message', 'bot.subscriber.started', 'bot.subscriber.blocked', 'bot.subscriber.returned'],
  ],
  [
    'Verification',
    [
      'verification.sent',
      'verification.verified',
      'verification.failed',
      'verification.superseded',
      'verification.blocked',
    ],
  ],
  [
    'Bulk',
    ['bulk.queued', 'bulk.running', 'bulk.paused', 'bulk.rejected', 'bulk.completed', 'bulk.cancelled'],
  ],
  [
    'Templates and senders',
    [
      'template.pending',
      'template.approved',
      'template.rejected',
      'template.disabled',
      'sms_sender.approved',
      'sms_sender.rejected',
    ],
  ],
  [
    'Sessions and bots',
    ['session.pairing', 'session.open', 'session.closed', 'session.logged_out', 'bot.unauthorized'],
  ],
  ['Account', ['suppression.created', 'suppression.deleted', 'wallet.low', 'webhook.disabled']],
]

export const EVENT_TYPES: readonly EventType[] = EVENT_GROUPS.flatMap(([, types]) => types)

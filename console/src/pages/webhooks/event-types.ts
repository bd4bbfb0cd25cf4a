import { EVENT_TYPES as ALL, type EventType, type WebhookCreate } from '../../../../sdk/index.ts'

export type Listened = NonNullable<WebhookCreate['eventTypes']>[number]
export const ANY = '*' satisfies Listened

/** Sent when somebody asks for it, whatever an endpoint listens to. */
const TEST = 'webhook.test' satisfies EventType

/** What events are about, as people call it: by the first word of their type. */
type Subject = EventType extends `${infer Word}.${string}` ? Word : never
const SUBJECTS: Readonly<Record<Subject, string>> = {
  message: 'Messages',
  verification: 'Verification',
  bulk: 'Bulk',
  inbound: 'Inbound',
  bot: 'Bots',
  session: 'Web sessions',
  template: 'Templates',
  sms_sender: 'SMS senders',
  suppression: 'Suppressions',
  wallet: 'Wallet',
  webhook: 'Webhooks',
}

/** What may be listened to. */
export const EVENT_TYPES: readonly EventType[] = ALL.filter(type => type !== TEST)
/** What may have been delivered. */
export const DELIVERED_TYPES: readonly EventType[] = ALL

export const EVENT_GROUPS = Object.entries(SUBJECTS)
  .map(([subject, title]) => [title, EVENT_TYPES.filter(type => type.startsWith(`${subject}.`))] as const)
  .filter(([, types]) => types.length > 0)

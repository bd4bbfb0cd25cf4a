import { EVENT_TYPES as ALL, type EventType, LISTENED, type Listened } from '../../../../sdk/index.ts'

export const ANY = '*' satisfies Listened

/** Sent on request, whatever the endpoint subscribes to. */
const TEST = 'webhook.test' satisfies EventType

/** The subjects of events, by the first part of their type. */
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

/** The types that an endpoint can subscribe to. */
export const EVENT_TYPES: readonly EventType[] = ALL.filter(type => type !== TEST)
/** The types that can be delivered. */
export const DELIVERED_TYPES: readonly EventType[] = ALL

/** By subject: the whole family, or single types. */
export const EVENT_GROUPS = Object.entries(SUBJECTS).map(
  ([subject, title]) =>
    [title, LISTENED.filter(word => word !== TEST && word.startsWith(`${subject}.`)).sort(byFamily)] as const,
)

/** Families come before their types. */
function byFamily(one: Listened, other: Listened): number {
  return Number(isFamily(other)) - Number(isFamily(one))
}

export function isFamily(word: Listened): boolean {
  return word.endsWith('.*')
}

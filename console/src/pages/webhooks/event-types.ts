import { EVENT_TYPES as ALL, type EventType, LISTENED, type Listened } from '../../../../sdk/index.ts'

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

/** By subject, what may be ticked: all of it, or single types. */
export const EVENT_GROUPS = Object.entries(SUBJECTS).map(
  ([subject, title]) =>
    [title, LISTENED.filter(word => word !== TEST && word.startsWith(`${subject}.`)).sort(byFamily)] as const,
)

/** A family stands before its types. */
function byFamily(one: Listened, other: Listened): number {
  return Number(isFamily(other)) - Number(isFamily(one))
}

export function isFamily(word: Listened): boolean {
  return word.endsWith('.*')
}

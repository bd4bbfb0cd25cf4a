import { Problem } from '../../contract/errors.ts'
import { addressKeyOf } from '../consent/address.ts'
import type { FindSuppressedChannels } from '../consent/lookup.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'

type Addressed = Pick<
  OutboxItem,
  'accountId' | 'messageType' | 'channel' | 'connectionId' | 'recipient' | 'sender'
>

/** The scope of a suppression, for the text of the refusal: all channels, or this one. */
type SuppressionScope = 'everywhere' | 'here'

/** The suppression that applies to a message; null for other types than marketing. */
export async function findSuppression(
  { accountId, messageType, channel, connectionId, recipient, sender }: Addressed,
  suppressedOn: FindSuppressedChannels,
): Promise<SuppressionScope | null> {
  if (messageType !== 'marketing') return null
  const channels = await suppressedOn({ accountId, key: addressKeyOf(recipient), connectionId, sender })
  if (channels.includes(null)) return 'everywhere'
  return channels.includes(channel) ? 'here' : null
}

/** Which of these messages must not be sent, because their recipients opted out while they waited. */
export async function findSuppressed<Item extends Addressed>(
  items: readonly Item[],
  suppressedOn: FindSuppressedChannels,
): Promise<Set<Item>> {
  const marketing = items.filter(item => item.messageType === 'marketing')
  if (marketing.length === 0) return new Set()
  const found = await Promise.all(marketing.map(item => findSuppression(item, suppressedOn)))
  return new Set(marketing.filter((_, at) => found[at] !== null))
}

/** The RECIPIENT_SUPPRESSED of a send, at `to`. */
export function recipientSuppressed(channel: string, scope: SuppressionScope): Problem {
  const where = scope === 'here' ? ` over ${channel}` : ''
  const message = `is on the suppression list for marketing${where}`
  return new Problem('RECIPIENT_SUPPRESSED', `to: ${message}`, { details: [{ path: 'to', message }] })
}

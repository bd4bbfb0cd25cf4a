import type { InboundMessageView } from '../../contract/inbound-message.ts'
import { toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { InboundRow } from './store.ts'

/** An inbound message as lists and events show it. */
export function viewInbound(row: InboundRow): InboundMessageView {
  return {
    id: row.id,
    channel: row.channel,
    from: row.from,
    to: row.to,
    text: row.text,
    button: row.button,
    keyword: row.keyword,
    receivedAt: toIso(timeOf(row.id)),
    sentAt: row.sentAtMs === null ? null : toIso(row.sentAtMs),
    provider: row.provider,
    connectionId: row.connectionId,
    providerMessageId: row.providerId,
    conversationContext: null,
  }
}

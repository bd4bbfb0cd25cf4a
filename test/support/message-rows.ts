import type { AcceptRow, SettleRow } from '../../src/core/messages/hot-store.ts'
import type { AccountId, ConnectionId, Id, MessageId } from '../../src/lib/ids.ts'

/** A live SMS that costs 10 micros; the node that accepts it begins its first attempt with the accept. */
export function acceptRow(
  ids: { accountId: AccountId; id: MessageId; connectionId: ConnectionId; dueAt: number },
  more: Partial<AcceptRow> = {},
): AcceptRow {
  return {
    ...ids,
    claim: null,
    live: true,
    status: 'sending',
    channel: 'local_sms',
    messageType: 'utility',
    recipient: '+12025550100',
    country: 'US',
    provider: 'model',
    sender: null,
    senderSource: 'platform',
    templateId: null,
    candidates: 'local_sms',
    content: '{}',
    metadata: null,
    amount: 10,
    parts: null,
    pooled: false,
    scheduledAt: null,
    owned: true,
    begun: true,
    secret: null,
    answer: null,
    ...more,
  }
}

/** A first attempt that the provider accepted. */
export function settleRow(
  ids: { accountId: AccountId; id: MessageId; connectionId: ConnectionId; eventId: Id<'evt'> },
  more: Partial<SettleRow> = {},
): SettleRow {
  return {
    ...ids,
    attempt: 1,
    kind: 'sent',
    providerId: null,
    providerCode: null,
    errorCode: null,
    errorDetail: null,
    dueAt: null,
    uncounted: false,
    answer: null,
    secret: null,
    keyToFree: null,
    ...more,
  }
}

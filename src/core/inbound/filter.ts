import { agrees, readTime, restorePlus, toStoredAddress } from '../../contract/filters.ts'
import type { InboundMessageFilters } from '../../contract/inbound-message.ts'
import { timeOf } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import type { InboundFilter, InboundRow } from './store.ts'

/** The filter of a list or a stream, in the store's terms. Throws VALIDATION_ERROR. */
export function readFilter(query: InboundMessageFilters, phones: Phones): InboundFilter {
  const { from, to, channel, accountId, conversationKey, createdAfter, createdBefore } = query
  return {
    ...(from !== undefined && { from: toStoredAddress(from, phones) }),
    ...(to !== undefined && { to: restorePlus(to) }),
    ...(channel && { channel }),
    ...(accountId !== undefined && { contextAccount: accountId }),
    ...(conversationKey !== undefined && { conversationKey: restorePlus(conversationKey) }),
    ...(createdAfter !== undefined && { createdAfterMs: readTime(createdAfter, 'createdAfter') }),
    ...(createdBefore !== undefined && { createdBeforeMs: readTime(createdBefore, 'createdBefore') }),
  }
}

/** Whether the filter matches the message. */
export function matchesFilter(filter: InboundFilter, row: InboundRow): boolean {
  const { createdAfterMs = Number.NEGATIVE_INFINITY, createdBeforeMs = Number.POSITIVE_INFINITY } = filter
  const createdMs = timeOf(row.id)
  return (
    createdMs > createdAfterMs &&
    createdMs < createdBeforeMs &&
    agrees(filter.from, row.from) &&
    agrees(filter.to, row.to) &&
    agrees(filter.channel, row.channel) &&
    agrees(filter.contextAccount, row.conversation?.accountId) &&
    agrees(filter.conversationKey, row.conversation?.key)
  )
}

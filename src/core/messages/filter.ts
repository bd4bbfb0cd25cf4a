import { agrees, readTime, toStoredAddress } from '../../contract/filters.ts'
import type { MessageFilters } from '../../contract/message.ts'
import { type Id, isId, timeOf } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import type { MessageFilter } from './list-store.ts'
import type { MessageRow } from './message-store.ts'

/** Converts the query of a list or a stream to a filter. Throws VALIDATION_ERROR. */
export function readFilter(query: MessageFilters, phones: Phones): MessageFilter {
  const templateId = readId('tpl', query.templateId)
  const bulkJobId = readId('job', query.bulkJobId)
  return {
    ...(query.status && { status: query.status }),
    ...(query.channel && { channel: query.channel }),
    ...(query.messageType && { messageType: query.messageType }),
    ...(query.mode && { live: query.mode === 'live' }),
    ...(query.to !== undefined && { to: toStoredAddress(query.to, phones) }),
    ...(query.errorCode !== undefined && { errorCode: query.errorCode }),
    ...(templateId && { templateId }),
    ...(bulkJobId && { bulkJobId }),
    ...((templateId === null || bulkJobId === null) && { matchesNothing: true as const }),
    ...(query.createdAfter !== undefined && { createdAfterMs: readTime(query.createdAfter, 'createdAfter') }),
    ...(query.createdBefore !== undefined && {
      createdBeforeMs: readTime(query.createdBefore, 'createdBefore'),
    }),
  }
}

/** Whether the message matches the filter. */
export function matchesFilter(filter: MessageFilter, row: MessageRow): boolean {
  const { createdAfterMs = Number.NEGATIVE_INFINITY, createdBeforeMs = Number.POSITIVE_INFINITY } = filter
  const createdMs = timeOf(row.id)
  return (
    !filter.matchesNothing &&
    createdMs > createdAfterMs &&
    createdMs < createdBeforeMs &&
    agrees(filter.status, row.status) &&
    agrees(filter.channel, row.channel) &&
    agrees(filter.messageType, row.messageType) &&
    agrees(filter.live, row.live) &&
    agrees(filter.to, row.recipient) &&
    agrees(filter.errorCode, row.errorCode) &&
    agrees(filter.templateId, row.templateId) &&
    agrees(filter.bulkJobId, row.bulkJobId)
  )
}

/** Null for a malformed id, which no message has; undefined without a filter. */
function readId<P extends 'tpl' | 'job'>(prefix: P, text: string | undefined): Id<P> | null | undefined {
  return text === undefined || isId(prefix, text) ? text : null
}

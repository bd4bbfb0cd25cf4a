import type { DeliveryView } from '../../contract/webhook.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { DeliveryRow } from './delivery-store.ts'

/** A delivery as its account sees it. */
export function viewDelivery(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    messageId: row.messageId,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.status === 'pending' ? toIso(row.dueAt) : null,
    lastAttemptAt: isoOrNull(row.lastAt),
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    endedAt: isoOrNull(row.endedAt),
    replayOf: row.replayOf,
    createdAt: toIso(timeOf(row.id)),
  }
}

import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { SenderRow } from '../senders/store.ts'
import { insertDelivery, insertEvent } from './event-store.ts'
import type { SenderEventData } from './payload.ts'

/**
 * Notifies an account of the decision on an SMS sender name, within the transaction
 * that decides it: an event for its webhook endpoints, and the name's own callback.
 */
export function createDecisionPublisher({ clock, ids }: { clock: Clock; ids: Ids }) {
  return async function publishDecision(tx: Db, sender: SenderRow): Promise<void> {
    const status = sender.status === 'approved' ? 'approved' : 'rejected'
    const data: SenderEventData = { id: sender.id, name: sender.name, status, reason: sender.reason }
    const event = {
      accountId: sender.accountId,
      id: ids.next('evt'),
      type: `sms_sender.${status}` as const,
      atMs: clock.now(),
      data,
    }
    await insertEvent(tx, event)
    if (!sender.webhookConfigured) return
    await insertDelivery(tx, {
      accountId: sender.accountId,
      id: ids.next('dlv'),
      kind: 'sender',
      targetId: sender.id,
      eventId: event.id,
      eventType: event.type,
      messageId: null,
      replayOf: null,
      dueAtMs: event.atMs,
    })
  }
}

import type { SuppressionView } from '../../contract/suppression.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type Ids, timeOf } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import type { SuppressionRow } from './store.ts'

/** Stores the events of suppressions that were added or removed, within the same transaction. */
export async function publishSuppressionEvents(
  db: Db,
  ids: Ids,
  nowMs: number,
  what: 'created' | 'deleted',
  rows: readonly SuppressionRow[],
): Promise<void> {
  const events = rows
    .filter(row => row.accountId !== PLATFORM)
    .map(row => ({
      accountId: row.accountId,
      id: ids.next('evt'),
      type: `suppression.${what}` as const,
      atMs: nowMs,
      data: viewSuppression(row),
    }))
  await insertSubscribedEvents(db, events)
}

export function viewSuppression(row: SuppressionRow): SuppressionView {
  return {
    id: row.id,
    to: row.recipient,
    channel: row.channel,
    source: row.source,
    reason: row.reason,
    createdAt: toIso(timeOf(row.id)),
  }
}

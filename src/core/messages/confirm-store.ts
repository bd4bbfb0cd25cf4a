import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { type AccountId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import { WITHDRAWN_DETAIL } from './withdraw-store.ts'

/** A message of a repeated request; `isWithdrawn`: Posthorn withdrew it before it was confirmed; its account did not. */
export type ConfirmedMessage = { isWithdrawn: boolean; scheduled: boolean; provider: string }

/**
 * Marks the existing ones of these messages as not to be withdrawn, because a request is about to get their
 * answer. The node that accepted them may have responded to its own request with an error, and would
 * withdraw them once it reaches the database again.
 */
export async function confirmMessages(
  db: Db,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, ConfirmedMessage>> {
  const { rows } = await db.query<ConfirmedMessage & { id: string }>({
    name: 'confirm_messages',
    text: `update messages set vouched = true where account_id = $1 and id = any ($2::uuid[])
           returning id, status = 'cancelled' and error_detail is not distinct from $3 as "isWithdrawn",
                     scheduled_at is not null as scheduled, provider`,
    values: [toUuid(accountId), uuidArray(ids, id => id), WITHDRAWN_DETAIL],
  })
  return new Map(rows.map(({ id, ...message }) => [fromUuid('msg', id), message]))
}

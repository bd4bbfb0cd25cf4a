import type { Db } from '../../infra/db.ts'
import { bareArray } from '../../infra/pg-array.ts'
import { type AccountId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import { TAKEN_BACK } from './withdraw-store.ts'

/** What became of a message before it could be vouched for; `taken back` by us, and not by its account. */
export type Fate = 'accepted' | 'taken back'

/**
 * From here on nobody takes back those of these messages that exist, for a sender is about to be told
 * of them: the node that accepted them may be away, with a sender of its own whom it told of none.
 */
export async function vouchFor(
  db: Db,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, Fate>> {
  const { rows } = await db.query<{ id: string; taken_back: boolean }>({
    name: 'vouch_for_messages',
    text: `update messages set vouched = true where account_id = $1 and id = any ($2::uuid[])
           returning id, status = 'cancelled' and error_detail is not distinct from $3 as taken_back`,
    values: [toUuid(accountId), bareArray(ids.map(toUuid)), TAKEN_BACK],
  })
  return new Map(rows.map(row => [fromUuid('msg', row.id), row.taken_back ? 'taken back' : 'accepted']))
}

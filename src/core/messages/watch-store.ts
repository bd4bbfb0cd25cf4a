import type { Db } from '../../infra/db.ts'
import { int8Array, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'

/** Messages that one call may have changed. Ids grow from call to call, but concurrent calls may commit in another order. */
export type Move = { accountId: AccountId; id: number; messageIds: MessageId[] }

/** Lets moves of these accounts be recorded until `untilMs`. Returns the accounts whose moves were recorded already. */
export async function watchAccounts(
  db: Db,
  accountIds: readonly AccountId[],
  nowMs: number,
  untilMs: number,
): Promise<Set<AccountId>> {
  const { rows } = await db.query<{ account_id: string }>({
    name: 'watch_accounts',
    text: `with watched as (
             insert into watched_accounts as w (account_id, until)
               select account_id, $3 from unnest($1::uuid[]) as a (account_id) order by account_id
             on conflict (account_id) do update set until = greatest(w.until, excluded.until)
           )
           select account_id from watched_accounts where account_id = any ($1) and until > $2`,
    values: [uuidArray(accountIds, id => id), toIso(nowMs), toIso(untilMs)],
  })
  return new Set(rows.map(row => fromUuid('acc', row.account_id)))
}

/** The id of the last move up to `atMs`; 0 if there is none. */
export async function lastMoveId(db: Db, accountId: AccountId, atMs: number): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'last_move',
    text: 'select id from message_moves where account_id = $1 and at <= $2 order by id desc limit 1',
    values: [toUuid(accountId), toIso(atMs)],
  })
  return rows[0]?.id ?? 0
}

/** For each account the moves after an id, at most `limit`, in their order. */
export async function selectMoves(
  db: Db,
  tails: readonly { accountId: AccountId; afterId: number }[],
  limit: number,
): Promise<Move[]> {
  if (tails.length === 0) return []
  const { rows } = await db.query<{ account_id: string; id: number; messages: string[] }>({
    name: 'select_moves',
    text: `select a.account_id, m.id, m.messages
             from unnest($1::uuid[], $2::bigint[]) as a (account_id, behind),
                  lateral (select id, messages from message_moves
                            where account_id = a.account_id and id > a.behind order by id limit $3) m`,
    values: [uuidArray(tails, tail => tail.accountId), int8Array(tails, tail => tail.afterId), limit],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    id: row.id,
    messageIds: row.messages.map(uuid => fromUuid('msg', uuid)),
  }))
}

/** Deletes moves from before `beforeMs`, and watches that have expired at `nowMs`. */
export async function deleteOldMoves(db: Db, beforeMs: number, nowMs: number): Promise<void> {
  await db.query({
    name: 'forget_moves',
    text: 'delete from message_moves where at < $1',
    values: [toIso(beforeMs)],
  })
  await db.query({
    name: 'forget_watched',
    text: 'delete from watched_accounts where until < $1',
    values: [toIso(nowMs)],
  })
}

import type { Db } from '../../infra/db.ts'
import { textArray, timeArray } from '../../infra/pg-array.ts'
import { type AccountId, type ConnectionId, toUuid } from '../../lib/ids.ts'

type Owner = { accountId: AccountId; id: ConnectionId }

export type ChatRow = {
  chatId: string
  kind: 'user' | 'group'
  name: string | null
  lastMessageAtMs: number | null
}

/** Stores chats that became known; null fields keep the known values. Returns whether a chat is new. */
export async function upsertChats(
  db: Db,
  { accountId, id }: Owner,
  chats: readonly ChatRow[],
): Promise<boolean> {
  const { rows } = await db.query<{ grown: boolean }>({
    name: 'web_session_chats_write',
    text: `with known as (
             select count(*) as n from web_session_chats
              where account_id = $1::uuid and session_id = $2::uuid and chat_id = any ($3::text[])),
           written as (
             insert into web_session_chats as c (account_id, session_id, chat_id, kind, name, last_message_at)
             select distinct on (i.chat_id) $1::uuid, $2::uuid, i.chat_id, i.kind, i.name, i.at
               from unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[]) as i (chat_id, kind, name, at)
              order by i.chat_id, i.at desc nulls last
             on conflict (account_id, session_id, chat_id) do update
                set name = coalesce(excluded.name, c.name), last_message_at = greatest(c.last_message_at, excluded.last_message_at)
             returning 1)
           select (select count(*) from written) > (select n from known) as grown`,
    values: [
      toUuid(accountId),
      toUuid(id),
      textArray(chats, chat => chat.chatId),
      textArray(chats, chat => chat.kind),
      textArray(chats, chat => chat.name),
      timeArray(chats, chat => chat.lastMessageAtMs),
    ],
  })
  return rows[0]!.grown
}

/** Deletes chats beyond `limit` of a session; keeps groups first, then the chats with the latest messages. */
export async function pruneChats(db: Db, { accountId, id }: Owner, limit: number): Promise<void> {
  await db.query({
    name: 'web_session_chats_prune',
    text: `delete from web_session_chats where account_id = $1 and session_id = $2 and chat_id in (
             select chat_id from web_session_chats where account_id = $1 and session_id = $2
              order by kind, last_message_at desc nulls last offset $3)`,
    values: [toUuid(accountId), toUuid(id), limit],
  })
}

export async function deleteAllChats(db: Db, { accountId, id }: Owner): Promise<void> {
  await db.query({
    name: 'web_session_chats_wipe',
    text: 'delete from web_session_chats where account_id = $1 and session_id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
}

/** Chats in the order of their ids; `after` is the last id of the previous page. */
export async function listChats(
  db: Db,
  { accountId, id }: Owner,
  kind: ChatRow['kind'] | null,
  after: string | null,
  limit: number,
): Promise<ChatRow[]> {
  const { rows } = await db.query<Omit<ChatRow, 'lastMessageAtMs'> & { at: Date | null }>({
    name: 'web_session_chats_list',
    text: `select chat_id as "chatId", kind, name, last_message_at as at from web_session_chats
            where account_id = $1 and session_id = $2 and ($3::text is null or kind = $3)
              and ($4::text is null or chat_id > $4 collate "C")
            order by chat_id collate "C" limit $5`,
    values: [toUuid(accountId), toUuid(id), kind, after, limit],
  })
  return rows.map(({ at, ...row }) => ({ ...row, lastMessageAtMs: at?.getTime() ?? null }))
}

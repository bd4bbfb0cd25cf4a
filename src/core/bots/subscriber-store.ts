import type { Db } from '../../infra/db.ts'
import { int8Array, textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { type AccountId, type BotId, fromUuid, toUuid } from '../../lib/ids.ts'
import type { Subscriber } from './subscriber.ts'

/** A chat of a bot. */
export type ChatRef = { accountId: AccountId; botId: BotId; chatId: string }
export type SubscriberRow = Subscriber & { accountId: AccountId; botId: BotId }

type Raw = {
  account_id: string
  bot_id: string
  chat_id: string
  user_id: string | null
  username: string | null
  first_name: string | null
  last_name: string | null
  start_payload: string | null
  started_at: Date
  last_seen_at: Date
  seen_update: number
  blocked_at: Date | null
  moved_to: string | null
}

const FIELDS = [
  'account_id',
  'bot_id',
  'chat_id',
  'user_id',
  'username',
  'first_name',
  'last_name',
  'start_payload',
  'started_at',
  'last_seen_at',
  'seen_update',
  'blocked_at',
  'moved_to',
]
const COLUMNS = FIELDS.map(field => `s.${field}`).join(', ')
const UPDATED_FIELDS = FIELDS.slice(3)

/** The known ones of these chats, including those that have moved. */
export async function selectChats(db: Db, refs: readonly ChatRef[]): Promise<SubscriberRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'bot_chats',
    text: `select ${COLUMNS} from (select distinct * from unnest($1::uuid[], $2::uuid[], $3::text[])
               as i (account_id, bot_id, chat_id)) i
             join bot_subscribers s on s.account_id = i.account_id and s.bot_id = i.bot_id and s.chat_id = i.chat_id`,
    values: refArrays(refs),
  })
  return rows.map(toRow)
}

/** Inserts or replaces chats; this transaction has locked their feeds. */
export async function upsertChats(db: Db, rows: readonly SubscriberRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query({
    name: 'bot_chats_put',
    text: `insert into bot_subscribers (${FIELDS.join(', ')})
           select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                                $9::timestamptz[], $10::timestamptz[], $11::bigint[], $12::timestamptz[], $13::text[])
           on conflict (account_id, bot_id, chat_id) do update
             set ${UPDATED_FIELDS.map(field => `${field} = excluded.${field}`).join(', ')}`,
    values: [
      ...refArrays(rows),
      textArray(rows, row => row.userId),
      textArray(rows, row => row.username),
      textArray(rows, row => row.firstName),
      textArray(rows, row => row.lastName),
      textArray(rows, row => row.startPayload),
      timeArray(rows, row => row.startedAtMs),
      timeArray(rows, row => row.lastSeenAtMs),
      int8Array(rows, row => row.lastUpdateId),
      timeArray(rows, row => row.blockedAtMs),
      textArray(rows, row => row.movedTo),
    ],
  })
}

/** A page of a bot's subscribers, the newest first. */
export async function listSubscribers(
  db: Db,
  { accountId, id }: { accountId: AccountId; id: BotId },
  { offset, limit }: { offset: number; limit: number },
): Promise<SubscriberRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'bot_subscribers_list',
    text: `select ${COLUMNS} from bot_subscribers s
            where s.account_id = $1 and s.bot_id = $2 and s.moved_to is null
            order by s.started_at desc, s.chat_id offset $3 limit $4`,
    values: [toUuid(accountId), toUuid(id), offset, limit],
  })
  return rows.map(toRow)
}

/** A search reads all subscribers of a bot: about two seconds for a million, more on a busy machine. */
const SEARCH_TIMEOUT_MS = 15_000

/** A page of the subscribers that contain `q`, and how many there are. */
export async function searchSubscribers(
  db: Db,
  { accountId, id }: { accountId: AccountId; id: BotId },
  q: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ rows: SubscriberRow[]; total: number }> {
  const { rows } = await db.query<Raw & { total: number }>({
    name: 'bot_subscribers_search',
    timeoutMs: SEARCH_TIMEOUT_MS,
    // Collects and sorts only keys; whole rows are read for the page alone.
    text: `with found as materialized (
             select s.chat_id, s.started_at from bot_subscribers s
              where s.account_id = $1 and s.bot_id = $2 and s.moved_to is null
                and strpos(lower(concat_ws(chr(10), s.chat_id, '@' || s.username,
                                           concat_ws(' ', s.first_name, s.last_name))), lower($3)) > 0)
           select ${COLUMNS}, c.total
             from (select count(*) as total from found) c
             left join lateral (
               select r.* from (select chat_id from found order by started_at desc, chat_id offset $4 limit $5) p
                -- Each by its own key: for a page of unknown size the planner would rather read all of them again.
                cross join lateral (select * from bot_subscribers x
                                     where x.account_id = $1 and x.bot_id = $2 and x.chat_id = p.chat_id limit 1) r) s on true
            order by s.started_at desc, s.chat_id`,
    values: [toUuid(accountId), toUuid(id), q, offset, limit],
  })
  return { rows: rows.filter(row => row.chat_id !== null).map(toRow), total: rows[0]!.total }
}

/** The bot and the chat of a conversation, for sends. */
export type BotConversation = {
  bot: { sandbox: boolean; connectionId: string | null; state: 'active' | 'unauthorized' }
  /** Null if the chat never started the bot. If the chat has moved, the new one. */
  chat: { chatId: string; blocked: boolean } | null
}

/** One per ref, in their order; null if the account has no such bot. One query by primary keys for all. */
export async function findConversations(
  db: Db,
  refs: readonly ChatRef[],
): Promise<(BotConversation | null)[]> {
  const { rows } = await db.query<{
    n: number
    sandbox: boolean
    connection_id: string | null
    state: BotConversation['bot']['state']
    chat_id: string | null
    blocked: boolean | null
  }>({
    name: 'bot_conversations',
    text: `select i.n::integer as n, b.sandbox, b.connection_id, b.state,
                  coalesce(m.chat_id, s.chat_id) as chat_id,
                  case when m.chat_id is null then s.blocked_at else m.blocked_at end is not null as blocked
             from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as i (account_id, bot_id, chat_id, n)
             join bots b on b.account_id = i.account_id and b.id = i.bot_id
             left join bot_subscribers s on s.account_id = i.account_id and s.bot_id = i.bot_id and s.chat_id = i.chat_id
             left join bot_subscribers m on m.account_id = i.account_id and m.bot_id = i.bot_id and m.chat_id = s.moved_to`,
    values: refArrays(refs),
  })
  const found: (BotConversation | null)[] = refs.map(() => null)
  for (const { n, sandbox, connection_id, state, chat_id, blocked } of rows) {
    found[n - 1] = {
      bot: { sandbox, connectionId: connection_id && fromUuid('cnn', connection_id), state },
      chat: chat_id === null ? null : { chatId: chat_id, blocked: blocked === true },
    }
  }
  return found
}

/** Deletes subscribers of a removed bot, at most `limit`; false if no removed bot is left. */
export async function sweepSubscribers(db: Db, limit: number): Promise<boolean> {
  const { rows } = await db.query<{ swept: number; bots: number }>({
    name: 'bot_subscribers_sweep',
    text: `with gone as materialized (
             select account_id, bot_id from bot_removals limit 1 for update skip locked),
           few as materialized (
             select s.account_id, s.bot_id, s.chat_id from gone g
               join bot_subscribers s on s.account_id = g.account_id and s.bot_id = g.bot_id limit $1),
           swept as (
             delete from bot_subscribers s using few
              where s.account_id = few.account_id and s.bot_id = few.bot_id and s.chat_id = few.chat_id returning 1),
           done as (
             delete from bot_removals r using gone g
              where r.account_id = g.account_id and r.bot_id = g.bot_id and not exists (select 1 from few))
           select (select count(*)::integer from swept) as swept, (select count(*)::integer from gone) as bots`,
    values: [limit],
  })
  return rows[0]!.bots > 0
}

function refArrays(refs: readonly ChatRef[]): Buffer[] {
  return [
    uuidArray(refs, ref => ref.accountId),
    uuidArray(refs, ref => ref.botId),
    textArray(refs, ref => ref.chatId),
  ]
}

function toRow(raw: Raw): SubscriberRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    botId: fromUuid('bot', raw.bot_id),
    chatId: raw.chat_id,
    userId: raw.user_id,
    username: raw.username,
    firstName: raw.first_name,
    lastName: raw.last_name,
    startPayload: raw.start_payload,
    startedAtMs: raw.started_at.getTime(),
    lastSeenAtMs: raw.last_seen_at.getTime(),
    lastUpdateId: raw.seen_update,
    blockedAtMs: raw.blocked_at?.getTime() ?? null,
    movedTo: raw.moved_to,
  }
}

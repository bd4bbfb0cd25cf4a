import type { Channel } from '../../contract/enums.ts'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import type { InboundContact, InboundMedia } from '../../contract/reported-message.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { MAX_SCANNED_ROWS, type Stretch } from '../../lib/bounded-scan.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, firstUuidAt, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import type { Keyword } from '../consent/keywords.ts'

export type InboundId = Id<'inb'>

export type InboundRow = {
  /** `PLATFORM` if the number belongs to no account, or to several. */
  accountId: AccountId
  id: InboundId
  connectionId: ConnectionId
  provider: string
  /** The provider's id of the message. */
  providerId: string
  channel: Channel
  from: string
  to: string
  text: string | null
  button: string | null
  buttonTitle: string | null
  media: readonly InboundMedia[]
  location: InboundLocation | null
  contacts: readonly InboundCard[]
  /** The provider's id of the message that this one replies to; null for none. */
  replyTo: string | null
  contact: InboundContact | null
  /** Null if the channel has no conversations. */
  conversation: Conversation | null
  keyword: Keyword | null
  sentAtMs: number | null
}

export type Conversation = {
  /** `accountId` of the conversation context: the session, bot or official sender. */
  accountId: string
  chatId: string
  key: string
}

type Raw = {
  account_id: string
  id: string
  connection_id: string
  provider: string
  provider_id: string
  channel: Channel
  sender: string
  recipient: string
  body: string | null
  button: string | null
  button_title: string | null
  media: InboundMedia[] | null
  location: InboundLocation | null
  contacts: InboundCard[] | null
  reply_to: string | null
  contact_id: string | null
  contact_name: string | null
  context_account: string | null
  chat_id: string | null
  conversation_key: string | null
  keyword: Keyword | null
  sent_at: Date | null
}

const COLUMNS = `account_id, id, connection_id, provider, provider_id, channel, sender, recipient, body, button, button_title,
  media, reply_to, contact_id, contact_name, context_account, chat_id, conversation_key, keyword, sent_at,
  location, contacts`

/** Long, since no request waits for a sweep. */
const SWEEP_TIMEOUT_MS = 60_000

/** Claims provider ids; returns the indexes of new ones. In the order of keys, so that two nodes cannot deadlock. */
export async function claimRefs(
  db: Db,
  nowMs: number,
  refs: readonly { connectionId: ConnectionId; providerId: string }[],
): Promise<Set<number>> {
  const { rows } = await db.query<{ connection_id: string; provider_id: string }>({
    name: 'inbound_claim_refs',
    text: `insert into inbound_refs (connection_id, provider_id, received_at)
           select distinct i.connection_id, i.provider_id, $3::timestamptz
             from unnest($1::uuid[], $2::text[]) as i (connection_id, provider_id)
            order by i.connection_id, i.provider_id
           on conflict do nothing returning connection_id, provider_id`,
    values: [uuidArray(refs, ref => ref.connectionId), textArray(refs, ref => ref.providerId), toIso(nowMs)],
  })
  const fresh = new Set(rows.map(row => `${fromUuid('cnn', row.connection_id)} ${row.provider_id}`))
  // If an id occurs twice in the call, its first occurrence is the new one.
  const places = refs.flatMap((ref, at) =>
    fresh.delete(`${ref.connectionId} ${ref.providerId}`) ? [at] : [],
  )
  return new Set(places)
}

export async function insertInbound(db: Db, rows: readonly InboundRow[]): Promise<void> {
  await db.query({
    name: 'inbound_insert',
    text: `insert into inbound_messages (${COLUMNS})
           select a, i, c, p, pi, ch, f, t, b, bu, bt, m::jsonb, r, ci, cn, ca, chat, ck, k, s, l::jsonb, co::jsonb
             from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                         $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
                         $16::text[], $17::text[], $18::text[], $19::text[], $20::timestamptz[],
                         $21::text[], $22::text[])
               as x (a, i, c, p, pi, ch, f, t, b, bu, bt, m, r, ci, cn, ca, chat, ck, k, s, l, co)`,
    values: [
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      uuidArray(rows, row => row.connectionId),
      textArray(rows, row => row.provider),
      textArray(rows, row => row.providerId),
      textArray(rows, row => row.channel),
      textArray(rows, row => row.from),
      textArray(rows, row => row.to),
      textArray(rows, row => row.text),
      textArray(rows, row => row.button),
      textArray(rows, row => row.buttonTitle),
      textArray(rows, row => (row.media.length === 0 ? null : JSON.stringify(row.media))),
      textArray(rows, row => row.replyTo),
      textArray(rows, row => row.contact?.id ?? null),
      textArray(rows, row => row.contact?.name ?? null),
      textArray(rows, row => row.conversation?.accountId ?? null),
      textArray(rows, row => row.conversation?.chatId ?? null),
      textArray(rows, row => row.conversation?.key ?? null),
      textArray(rows, row => row.keyword),
      timeArray(rows, row => row.sentAtMs),
      textArray(rows, row => row.location && JSON.stringify(row.location)),
      textArray(rows, row => (row.contacts.length === 0 ? null : JSON.stringify(row.contacts))),
    ],
  })
}

/** Null if the account has no message with this id. */
export async function selectInbound(db: Db, accountId: AccountId, id: InboundId): Promise<InboundRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'inbound_one',
    text: `select ${COLUMNS} from inbound_messages where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

export type InboundFilter = {
  from?: string
  to?: string
  channel?: Channel
  /** `accountId` of the conversation context. */
  contextAccount?: string
  conversationKey?: string
  createdAfterMs?: number
  createdBeforeMs?: number
}

/** The most bytes of texts on a page: people may write 40,000 characters, and a button may bring as many. */
const PAGE_BYTES = 4_000_000
const BYTES = `coalesce(octet_length(body), 0) + coalesce(octet_length(button), 0)
  + coalesce(octet_length(media::text), 0) + coalesce(octet_length(contacts::text), 0)`

/** The newest first, and after the first at most 4 MB of texts (`cutAt`: the last one of a page that ends there). */
export async function listInbound(
  db: Db,
  accountId: AccountId,
  filter: InboundFilter,
  { before, stoppedAt, limit }: Stretch<InboundId>,
): Promise<{ rows: InboundRow[]; cutAt: InboundId | null }> {
  const { shape, where, values } = conditionsOf(accountId, filter, before, stoppedAt)
  const { rows } = await db.query<Raw & { found: number }>({
    name: `inbound_list_${shape}`,
    text: `select * from (
             select p.*, sum(p.bytes) over (order by p.id desc) - p.bytes as before, count(*) over () as found from (
               select ${COLUMNS}, ${BYTES} as bytes from inbound_messages
                where ${where} order by id desc limit $${values.push(limit)}) p
           ) s where before < $${values.push(PAGE_BYTES)} order by id desc`,
    values,
  })
  const page = rows.map(toRow)
  return { rows: page, cutAt: (rows[0]?.found ?? 0) > rows.length ? page.at(-1)!.id : null }
}

/** The id down to which one statement looks, so that it stays bounded; null when it may look to the end. */
export async function findInboundScanEnd(
  db: Db,
  accountId: AccountId,
  filter: InboundFilter,
  before: InboundId | null,
): Promise<InboundId | null> {
  const { shape, where, values } = conditionsOf(accountId, indexedPart(filter), before, null)
  const { rows } = await db.query<{ id: string }>({
    name: `inbound_end_${shape}`,
    text: `select id from inbound_messages where ${where} order by id desc offset ${MAX_SCANNED_ROWS - 1} limit 2`,
    values,
  })
  return rows.length === 2 ? fromUuid('inb', rows[0]!.id) : null
}

/** Filters with an index of their own, the most selective first. */
const INDEXED_FIELDS = ['conversationKey', 'from', 'contextAccount', 'to'] as const

/** The part of a filter that an index serves; the other conditions are checked on the rows that it finds. */
function indexedPart({ createdAfterMs, createdBeforeMs, ...fields }: InboundFilter): InboundFilter {
  const way = INDEXED_FIELDS.find(field => fields[field] !== undefined)
  return {
    ...(way && { [way]: fields[way] }),
    ...(createdAfterMs !== undefined && { createdAfterMs }),
    ...(createdBeforeMs !== undefined && { createdBeforeMs }),
  }
}

/** Whether the filter may skip rows that its index finds. */
export function isSelective(filter: InboundFilter): boolean {
  return Object.keys(filter).length > Object.keys(indexedPart(filter)).length
}

/** Each set of filters is a statement of its own, named by `shape`, since one generic plan would suit none of them. */
function conditionsOf(
  accountId: AccountId,
  filter: InboundFilter,
  before: InboundId | null,
  stoppedAt: InboundId | null,
) {
  const values: unknown[] = [toUuid(accountId)]
  const wheres = ['account_id = $1']
  let shape = ''
  const where = (sql: string, value: unknown) => {
    shape += value === undefined ? 0 : 1
    if (value !== undefined) wheres.push(`${sql} $${values.push(value)}`)
  }
  const { from, to, channel, contextAccount, conversationKey, createdAfterMs, createdBeforeMs } = filter
  where('id <', before === null ? undefined : toUuid(before))
  where('id >=', stoppedAt === null ? undefined : toUuid(stoppedAt))
  where('sender =', from)
  where('recipient =', to)
  where('channel =', channel)
  where('context_account =', contextAccount)
  where('conversation_key =', conversationKey)
  where('id >=', createdAfterMs === undefined ? undefined : firstUuidAt(createdAfterMs + 1))
  where('id <', createdBeforeMs === undefined ? undefined : firstUuidAt(createdBeforeMs))
  return { shape, where: wheres.join(' and '), values }
}

/** For each account the ids of messages since its time, the newest first, at most `limit`. */
export async function selectInboundSince(
  db: Db,
  accounts: readonly { accountId: AccountId; sinceMs: number }[],
  limit: number,
): Promise<Map<AccountId, InboundId[]>> {
  const { rows } = await db.query<{ account_id: string; ids: string[] }>({
    name: 'inbound_since',
    text: `select a.account_id, array(select id from inbound_messages
                                      where account_id = a.account_id and id >= a.since order by id desc limit $3) as ids
             from unnest($1::uuid[], $2::uuid[]) as a (account_id, since)`,
    values: [
      uuidArray(accounts, ({ accountId }) => accountId),
      uuidArray(accounts, ({ sinceMs }) => firstUuidAt(sinceMs)),
      limit,
    ],
  })
  return new Map(
    rows.map(({ account_id, ids }) => [fromUuid('acc', account_id), ids.map(id => fromUuid('inb', id))]),
  )
}

/** Messages of an account by their ids, the oldest first. */
export async function selectInboundOf(
  db: Db,
  accountId: AccountId,
  ids: readonly InboundId[],
): Promise<InboundRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'inbound_some',
    text: `select ${COLUMNS} from inbound_messages where account_id = $1 and id = any ($2::uuid[]) order by id`,
    values: [toUuid(accountId), uuidArray(ids, id => id)],
  })
  return rows.map(toRow)
}

/** Deletes provider ids from before a time, after which no message is repeated; at most `limit`. Returns how many. */
export async function sweepInboundRefs(db: Db, receivedBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'inbound_sweep_refs',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from inbound_refs where ctid = any (array(
             select ctid from inbound_refs where received_at < $1 limit $2))`,
    values: [toIso(receivedBeforeMs), limit],
  })
  return rowCount ?? 0
}

function toRow(raw: Raw): InboundRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('inb', raw.id),
    connectionId: fromUuid('cnn', raw.connection_id),
    provider: raw.provider,
    providerId: raw.provider_id,
    channel: raw.channel,
    from: raw.sender,
    to: raw.recipient,
    text: raw.body,
    button: raw.button,
    buttonTitle: raw.button_title,
    media: raw.media ?? [],
    location: raw.location,
    contacts: raw.contacts ?? [],
    replyTo: raw.reply_to,
    contact:
      raw.contact_id === null && raw.contact_name === null
        ? null
        : { id: raw.contact_id, name: raw.contact_name },
    conversation: conversationOf(raw),
    keyword: raw.keyword,
    sentAtMs: raw.sent_at?.getTime() ?? null,
  }
}

function conversationOf({ context_account, chat_id, conversation_key }: Raw): Conversation | null {
  return context_account === null || chat_id === null || conversation_key === null
    ? null
    : { accountId: context_account, chatId: chat_id, key: conversation_key }
}

import type { Channel, MessageType } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { int4Array, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type Id, type MessageId } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import type { StoredContent } from './stored-content.ts'

/** Frees messages that dead nodes held, at most `limit`; begun attempts become unknown, with this deadline. */
export async function reclaimFromDead(
  db: Db,
  nowMs: number,
  deadlineMs: number,
  limit: number,
): Promise<{ freed: number; unknown: number }> {
  const { rows } = await db.query<{ freed: number; unknown: number }>({
    name: 'reclaim_from_dead',
    text: 'select freed, unknown from reclaim_from_dead($1,$2,$3)',
    values: [toIso(nowMs), toIso(deadlineMs), limit],
  })
  return rows[0]!
}

export type ClaimedRow = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  channel: Channel
  messageType: MessageType
  recipient: string
  sender: string | null
  content: StoredContent
  /** Its bulk job; absent once the job has ended. */
  bulkJobId?: Id<'job'>
  /** Its bulk job was cancelled. */
  cancelled: boolean
  /** The sealed text of an OTP; null for other messages. */
  secret: Buffer | null
}

type RawClaim = {
  account_id: string
  id: string
  connection_id: string
  channel: Channel
  message_type: MessageType
  recipient: string
  sender: string | null
  content: StoredContent
  bulk_job_id: string | null
  cancelled: boolean
  secret: Buffer | null
}

/** Claims due rows for this node, at most `limit` for each connection; `testsOnly`: only those of test keys. */
export async function claimDue(
  db: Db,
  node: number,
  nowMs: number,
  capacity: readonly { connectionId: ConnectionId; limit: number; testsOnly?: boolean }[],
): Promise<ClaimedRow[]> {
  const { rows } = await db.query<RawClaim>({
    name: 'claim_due',
    text: 'select * from claim_due($1,$2,$3,$4,$5)',
    values: [
      node,
      toIso(nowMs),
      uuidArray(capacity, each => each.connectionId),
      int4Array(capacity, each => each.limit),
      uuidArray(
        capacity.filter(each => each.testsOnly),
        each => each.connectionId,
      ),
    ],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    id: fromUuid('msg', row.id),
    connectionId: fromUuid('cnn', row.connection_id),
    channel: row.channel,
    messageType: row.message_type,
    recipient: row.recipient,
    sender: row.sender,
    content: row.content,
    ...(row.bulk_job_id !== null && { bulkJobId: fromUuid('job', row.bulk_job_id) }),
    cancelled: row.cancelled,
    secret: row.secret,
  }))
}

/** Gives back rows that this node holds and has not begun; `dueAtMs` changes when they are due. */
export async function releaseRows(
  db: Db,
  node: number,
  items: readonly { accountId: AccountId; id: MessageId; dueAtMs?: number }[],
): Promise<void> {
  if (items.length === 0) return
  const sorted = [...items].sort(byAccountAndId)
  await db.query({
    name: 'give_back',
    text: 'select give_back($1,$2,$3,$4)',
    values: [
      node,
      uuidArray(sorted, item => item.accountId),
      uuidArray(sorted, item => item.id),
      timeArray(sorted, item => item.dueAtMs ?? null),
    ],
  })
}

/** An outbox row that a node holds. */
export type OwnedRow = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  begun: boolean
  attempt: number
}

/** Pages of the outbox that one look reads: 16 MB, some 100,000 rows. */
const PAGES_AT_ONCE = 2_000

/** What one look found, in one stretch of the outbox; `nextPage` is where the following stretch begins, 0 after the last one. */
export type OwnedRows = { rows: OwnedRow[]; nextPage: number }

/**
 * The rows that a node holds according to the database, except the messages that it has in memory (`inMemory`), in a stretch
 * of physical pages of the outbox.
 */
export async function listOwned(
  db: Db,
  node: number,
  inMemory: readonly MessageId[],
  fromPage: number,
  pages = PAGES_AT_ONCE,
): Promise<OwnedRows> {
  const { rows } = await db.query<{
    more: boolean
    account_id: string | null
    message_id: string
    connection_id: string
    begun: boolean
    attempt: number
  }>({
    name: 'list_owned',
    text: `select pg_relation_size('outbox') > ($3::bigint + $4) * current_setting('block_size')::bigint as more, o.*
             from (select) one left join list_owned($1,$2,$3,$4) o on true`,
    values: [node, uuidArray(inMemory, id => id), fromPage, pages],
  })
  return {
    rows: rows.flatMap(({ account_id, ...row }) =>
      account_id === null
        ? []
        : [
            {
              accountId: fromUuid('acc', account_id),
              id: fromUuid('msg', row.message_id),
              connectionId: fromUuid('cnn', row.connection_id),
              begun: row.begun,
              attempt: row.attempt,
            },
          ],
    ),
    nextPage: rows[0]!.more ? fromPage + pages : 0,
  }
}

/**
 * A recursive CTE `waited (id)`: the connections that have waiting messages, and a null. Jumps from one to the next in the
 * index, rather than reading all waiting rows, of which a million may be scheduled.
 */
export const WAITED = `waited as (
  (select connection_id as id from outbox where owner is null and not begun order by connection_id limit 1)
  union all
  select (select o.connection_id from outbox o
           where o.owner is null and not o.begun and o.connection_id > w.id order by o.connection_id limit 1)
    from waited w where w.id is not null)`

/** A backlog may have a million rows; to count so many takes some 10 ms. */
const MAX_COUNTED = 20_000

/**
 * How many messages are due and held by no node, and how many are unknown; for the metrics. Above `most` as PostgreSQL's
 * statistics estimate, if they say more.
 */
export async function countOutbox(
  db: Db,
  nowMs: number,
  most = MAX_COUNTED,
): Promise<{ waiting: number; unknown: number }> {
  const { rows } = await db.query<{ waiting: number; unknown: number }>({
    name: 'count_outbox',
    text: 'select waiting::float8, unknown::float8 from count_outbox($1, $2)',
    values: [toIso(nowMs), most],
  })
  return rows[0]!
}

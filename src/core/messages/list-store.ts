import type { Channel, MessageStatus, MessageType } from '../../contract/enums.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { MAX_SCANNED_ROWS, type Stretch } from '../../lib/bounded-scan.ts'
import {
  type AccountId,
  FIRST_UUID,
  firstUuidAt,
  fromUuid,
  type Id,
  LAST_UUID,
  type MessageId,
  timeOf,
  toUuid,
} from '../../lib/ids.ts'
import { type MessageRow, type RawMessage, toRow } from './message-store.ts'

export type MessageFilter = {
  status?: MessageStatus
  channel?: Channel
  messageType?: MessageType
  live?: boolean
  to?: string
  errorCode?: ErrorCode
  templateId?: Id<'tpl'>
  bulkJobId?: Id<'job'>
  createdAfterMs?: number
  createdBeforeMs?: number
  /** For an id that no message can have. Such a list is empty without a search. */
  matchesNothing?: true
}

/** The most bytes of content and metadata on a page: a mail may have half a million characters. */
const PAGE_BYTES = 4_000_000
const BYTES = `coalesce(octet_length(m.content::text), 0) + coalesce(octet_length(m.metadata::text), 0)`

/**
 * A page of an account's messages, the newest first, and after the first at most 4 MB of content
 * and metadata (`cutAt`: the last one of a page that ends there). Ids sort by time, so times are
 * ranges of the primary key.
 */
export async function listMessages(
  db: Db,
  accountId: AccountId,
  filter: MessageFilter,
  { before, stoppedAt, limit }: Stretch<MessageId>,
): Promise<{ rows: MessageRow[]; cutAt: MessageId | null }> {
  const source = sourceFor(filter)
  const range = rangeOf(filter, before)
  const wanted = conditionsOf(filter)
  // One statement per set of filters, so that absent filters cost no comparison per row.
  const { rows } = await db.query<RawMessage & { found: number }>({
    name: `list_messages_${source}_${wanted.map(({ place }) => place).join('')}`,
    text: `select * from (
             select p.*, sum(p.bytes) over (order by p.id desc) - p.bytes as before, count(*) over () as found from (
               select m.*, ${BYTES} as bytes from ${SOURCES[source].from}
                where ${SOURCES[source].where} ${wanted.map(({ column }, at) => `and m.${column} = $${6 + at}`).join(' ')}
                order by ${SOURCES[source].id} desc limit $4) p
           ) s where before < $5 order by id desc`,
    values: [
      toUuid(accountId),
      range.below,
      stoppedAt === null ? range.from : laterOf(range.from, toUuid(stoppedAt)),
      limit,
      PAGE_BYTES,
      ...wanted.map(({ value }) => value),
    ],
  })
  const page = rows.map(toRow)
  return { rows: page, cutAt: (rows[0]?.found ?? 0) > rows.length ? page.at(-1)!.id : null }
}

type Condition = { column: string; place: number; value: string | boolean }

function conditionsOf(filter: MessageFilter): Condition[] {
  const all: [column: string, value: string | boolean | undefined][] = [
    ['status', filter.status],
    ['channel', filter.channel],
    ['message_type', filter.messageType],
    ['live', filter.live],
    ['recipient', filter.to],
    ['error_code', filter.errorCode],
    ['template_id', filter.templateId && toUuid(filter.templateId)],
    ['bulk_job_id', filter.bulkJobId && toUuid(filter.bulkJobId)],
  ]
  return all.flatMap(([column, value], place) => (value === undefined ? [] : [{ column, place, value }]))
}

/** The id down to which one statement may search; null if it may search to the end. */
export async function findMessageScanEnd(
  db: Db,
  accountId: AccountId,
  filter: MessageFilter,
  before: MessageId | null,
): Promise<MessageId | null> {
  const source = SOURCES[sourceFor(filter)]
  const { where, id, most } = source
  const range = rangeOf(filter, before)
  const { rows } = await db.query<{ id: string }>({
    name: `end_of_look_${sourceFor(filter)}`,
    text: `select ${id} as id from ${'ids' in source ? source.ids : source.from} where ${where} order by ${id} desc offset ${most - 1} limit 2`,
    values: [toUuid(accountId), range.below, range.from],
  })
  return rows.length === 2 ? fromUuid('msg', rows[0]!.id) : null
}

/** When a job ended; null if it has not, or is not stored any more. */
export async function jobEndedAt(db: Db, accountId: AccountId, jobId: Id<'job'>): Promise<number | null> {
  const { rows } = await db.query<{ ended_at: Date | null }>({
    name: 'job_ended_at',
    text: 'select ended_at from bulk_jobs where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(jobId)],
  })
  return rows[0]?.ended_at?.getTime() ?? null
}

/** The existing ones of these messages, the earliest first; null if their content exceeds a page. */
export async function selectMessages(
  db: Db,
  wanted: readonly { accountId: AccountId; id: MessageId }[],
): Promise<MessageRow[] | null> {
  if (wanted.length === 0) return []
  const { rows } = await db.query<RawMessage & { found: number }>({
    name: 'select_messages',
    text: `select * from (
             select p.*, sum(p.bytes) over (order by p.id) - p.bytes as before, count(*) over () as found from (
               select m.*, ${BYTES} as bytes
                 from unnest($1::uuid[], $2::uuid[]) as i (account_id, id)
                 join messages m on m.account_id = i.account_id and m.id = i.id) p
           ) s where before < $3 order by id`,
    values: [uuidArray(wanted, ({ accountId }) => accountId), uuidArray(wanted, ({ id }) => id), PAGE_BYTES],
  })
  return (rows[0]?.found ?? 0) > rows.length ? null : rows.map(toRow)
}

/** A message that is found through the outbox takes some 10 µs, if there are many months. */
const MAX_OF_OUTBOX = 4_000

/**
 * Where messages are searched: among all of the account; among those that failed, which have an index of their
 * own; or in the outbox, which has all that are not settled.
 * `most` is how many rows one statement reads; `ids` is enough to count them.
 */
const SOURCES = {
  all: {
    from: 'messages m',
    id: 'm.id',
    where: 'm.account_id = $1 and m.id < $2 and m.id >= $3',
    most: MAX_SCANNED_ROWS,
  },
  bad: {
    from: 'messages m',
    id: 'm.id',
    where: `m.account_id = $1 and m.id < $2 and m.id >= $3
              and (m.ended_at is not null or m.error_code is not null)`,
    most: MAX_SCANNED_ROWS,
  },
  open: {
    // Each by its own key, since the planner would read all messages if many wait.
    from: `outbox o cross join lateral (
             select * from messages x where x.account_id = o.account_id and x.id = o.message_id limit 1) m`,
    ids: 'outbox o',
    id: 'o.message_id',
    where: 'o.account_id = $1 and o.message_id < $2 and o.message_id >= $3',
    most: MAX_OF_OUTBOX,
  },
} as const

const SOURCE_OF_STATUS: Partial<Record<MessageStatus, keyof typeof SOURCES>> = {
  scheduled: 'open',
  queued: 'open',
  sending: 'open',
  unknown: 'open',
  undelivered: 'bad',
  failed: 'bad',
  cancelled: 'bad',
  expired: 'bad',
}

function sourceFor({ status, errorCode }: MessageFilter): keyof typeof SOURCES {
  const source = status && SOURCE_OF_STATUS[status]
  return source ?? (errorCode === undefined ? 'all' : 'bad')
}

/** As uuids, `from` included. No message is older than its job or its template. */
function rangeOf(
  { createdAfterMs, createdBeforeMs, bulkJobId, templateId }: MessageFilter,
  before: MessageId | null,
): { below: string; from: string } {
  const below = before === null ? LAST_UUID : toUuid(before)
  const end = createdBeforeMs === undefined ? LAST_UUID : firstUuidAt(createdBeforeMs)
  return {
    below: below < end ? below : end,
    from: [bulkJobId, templateId].reduce(
      (from, id) => (id === undefined ? from : laterOf(from, firstUuidAt(timeOf(id) - MAX_CLOCK_SKEW_MS))),
      // "After" excludes the instant itself.
      createdAfterMs === undefined ? FIRST_UUID : firstUuidAt(createdAfterMs + 1),
    ),
  }
}

/** More than the clocks of two nodes ever differ. */
export const MAX_CLOCK_SKEW_MS = 600_000

function laterOf(a: string, b: string): string {
  return a > b ? a : b
}

import type { DeliveryStatus, EventType } from '../../contract/webhook.ts'
import type { Db } from '../../infra/db.ts'
import { textArray } from '../../infra/pg-array.ts'
import { MAX_SCANNED_ROWS, type Stretch } from '../../lib/bounded-scan.ts'
import { toIso } from '../../lib/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'
import { type AccountId, firstUuidAt, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import type { DeliveryId, EventId, WebhookId } from './store.ts'

/** A delivery as its endpoint's list shows it; times in ms since the epoch. */
export type DeliveryRow = {
  id: DeliveryId
  /** Its position among all deliveries; rises with time. */
  seq: number
  eventId: EventId
  eventType: EventType
  messageId: MessageId | null
  status: DeliveryStatus
  attempts: number
  dueAt: number
  lastAt: number | null
  lastStatus: number | null
  lastError: string | null
  endedAt: number | null
  replayOf: DeliveryId | null
}

type Raw = {
  id: string
  seq: number
  event_id: string
  event_type: EventType
  order_key: string | null
  status: DeliveryStatus
  attempts: number
  due_at: Date
  last_at: Date | null
  last_status: number | null
  last_error: string | null
  ended_at: Date | null
  replay_of: string | null
}

const COLUMNS = `id, seq, event_id, event_type, order_key, status, attempts, due_at, last_at, last_status, last_error,
  ended_at, replay_of`

export type DeliveryFilter = { status?: DeliveryStatus; eventType?: EventType }

/** The newest first, by their seq. */
export async function listDeliveries(
  db: Db,
  accountId: AccountId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
  { before, stoppedAt, limit }: Stretch<number>,
): Promise<DeliveryRow[]> {
  const scan = scanFor(filter)
  const { rows } = await db.query<Raw>({
    name: `deliveries_list_${scan}`,
    text: `select ${COLUMNS} from deliveries
      where ${SCANS[scan]} and seq >= $4 and ($5::text is null or status = $5) and ($6::text is null or event_type = $6)
      order by seq desc limit $7`,
    values: [
      ...placeOf(accountId, webhookId, before),
      stoppedAt ?? 0,
      filter.status ?? null,
      filter.eventType ?? null,
      limit,
    ],
  })
  return rows.map(toRow)
}

/** The seq down to which one statement looks, so that it stays bounded; null when it may look to the end. */
export async function findDeliveryScanEnd(
  db: Db,
  accountId: AccountId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
  before: number | null,
): Promise<number | null> {
  const scan = scanFor(filter)
  const { rows } = await db.query<{ seq: number }>({
    name: `deliveries_end_${scan}`,
    text: `select seq from deliveries where ${SCANS[scan]} order by seq desc offset ${MAX_SCANNED_ROWS - 1} limit 2`,
    values: placeOf(accountId, webhookId, before),
  })
  return rows.length === 2 ? rows[0]!.seq : null
}

/** What is scanned: all deliveries of an endpoint, or only the failed and cancelled ones, which have an index of their own. */
const SCANS = {
  all: 'account_id = $1 and target_id = $2 and seq < $3',
  bad: "account_id = $1 and target_id = $2 and seq < $3 and status in ('failed', 'cancelled')",
} as const

function scanFor({ status }: DeliveryFilter): keyof typeof SCANS {
  return status === 'failed' || status === 'cancelled' ? 'bad' : 'all'
}

function placeOf(accountId: AccountId, webhookId: WebhookId, before: number | null) {
  return [toUuid(accountId), toUuid(webhookId), before ?? Number.MAX_SAFE_INTEGER]
}

export async function selectDelivery(
  db: Db,
  accountId: AccountId,
  webhookId: WebhookId,
  id: DeliveryId,
): Promise<DeliveryRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'delivery_by_id',
    text: `select ${COLUMNS} from deliveries where account_id = $1 and target_id = $2 and id = $3`,
    values: [toUuid(accountId), toUuid(webhookId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The webhook endpoint that a delivery was for; null for a delivery that does not exist, or is a sender's callback. */
export async function selectEndpointOfDelivery(
  db: Db,
  accountId: AccountId,
  id: DeliveryId,
): Promise<WebhookId | null> {
  const { rows } = await db.query<{ target_id: string }>({
    name: 'delivery_endpoint',
    text: "select target_id from deliveries where account_id = $1 and id = $2 and target_kind = 'endpoint'",
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? fromUuid('whk', rows[0].target_id) : null
}

/** Events whose time is `fromMs` or later and before `toMs`, behind the event `after`. */
export type EventRange = {
  fromMs: number
  toMs: number
  after: EventId | null
  types: readonly string[] | null
}

/**
 * Queues the stored events of a range for an endpoint again, at most `limit`.
 * Events of one message with the same time are queued in the order of its life.
 * @returns the ids of the events, the earliest first.
 */
export async function replayEvents(
  db: Db,
  nowMs: number,
  accountId: AccountId,
  webhookId: WebhookId,
  range: EventRange,
  limit: number,
): Promise<EventId[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'replay_events',
    timeoutMs: REPLAY_TIMEOUT_MS,
    text: `with found as (
             select e.id, e.type, e.message_id, e.at from events e
              where e.account_id = $1 and e.id >= $2::uuid and e.id < $3::uuid and e.id > $4::uuid
                and e.at >= $10 and e.at < $11 and ($5::text[] is null or e.type = any ($5)) and e.type <> 'webhook.test'
              order by e.id limit $6
           ), queued as (
             insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, order_key, due_at)
               select $1, uuid_at($7), 'endpoint', $8, f.id, f.type, f.message_id, $7
                 from found f order by f.at, array_position($9::text[], f.type), f.id
           )
           select id from found order by id`,
    values: [
      toUuid(accountId),
      firstUuidAt(range.fromMs - ID_BEFORE_MS),
      firstUuidAt(range.toMs + ID_AFTER_MS),
      range.after === null ? firstUuidAt(0) : toUuid(range.after),
      range.types && textArray(range.types, type => type),
      limit,
      toIso(nowMs),
      toUuid(webhookId),
      textArray(MESSAGE_EVENT_ORDER, type => type),
      toIso(range.fromMs),
      toIso(range.toMs),
    ],
  })
  return rows.map(row => fromUuid('evt', row.id))
}

/** An event's id is made before its time is: at most so much earlier, if the database was away in between. */
const ID_BEFORE_MS = HOUR_MS
/** Or later than its time: by a few statements, or by clocks that were set back. */
const ID_AFTER_MS = MINUTE_MS
/** Long: some thousand rows are inserted into five indexes. */
const REPLAY_TIMEOUT_MS = 20_000
/** The order of events of one message within the same millisecond. */
const MESSAGE_EVENT_ORDER: readonly EventType[] = [
  'message.unknown',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.undelivered',
  'message.failed',
  'message.cancelled',
  'message.expired',
]

function toRow(raw: Raw): DeliveryRow {
  return {
    id: fromUuid('dlv', raw.id),
    seq: raw.seq,
    eventId: fromUuid('evt', raw.event_id),
    eventType: raw.event_type,
    messageId: raw.order_key === null ? null : fromUuid('msg', raw.order_key),
    status: raw.status,
    attempts: raw.attempts,
    dueAt: raw.due_at.getTime(),
    lastAt: raw.last_at?.getTime() ?? null,
    lastStatus: raw.last_status,
    lastError: raw.last_error,
    endedAt: raw.ended_at?.getTime() ?? null,
    replayOf: raw.replay_of === null ? null : fromUuid('dlv', raw.replay_of),
  }
}

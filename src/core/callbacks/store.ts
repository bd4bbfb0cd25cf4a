import type { ConversationView } from '../../contract/conversation.ts'
import type { Channel, MessageType } from '../../contract/enums.ts'
import type { EventType } from '../../contract/webhook.ts'
import type { Db } from '../../infra/db.ts'
import { int2Array, int4Array, int8Array, textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, FIRST_UUID, fromUuid, type Id, type MessageId, toUuid } from '../../lib/ids.ts'

/**
 * Deliveries that are queued or under way; the SQL functions are in migrations/functions. A target is
 * a webhook endpoint or an SMS sender name, each identified by its uuid.
 */

/** Long, since no request waits for it and a dead receiver may have many deliveries. */
const RECALL_TIMEOUT_MS = 60_000

export type DeliveryId = Id<'dlv'>
export type EventId = Id<'evt'>
export type WebhookId = Id<'whk'>
export type TargetKind = 'endpoint' | 'sender'

export type Target = {
  accountId: AccountId
  kind: TargetKind
  /** The id as a uuid. */
  uuid: string
  /** A delivery is due. */
  hasDue: boolean
  /** It takes deliveries: it exists and, as an endpoint, is enabled. */
  isActive: boolean
}

/** The targets with deliveries that no node holds, in the order of their ids, after `after`; null is the beginning. */
export async function listTargets(
  db: Db,
  nowMs: number,
  after: Pick<Target, 'accountId' | 'uuid'> | null,
  limit: number,
): Promise<Target[]> {
  const { rows } = await db.query<{
    account_id: string
    target_kind: TargetKind
    target_id: string
    ready: boolean
    open: boolean
  }>({
    name: 'delivery_targets',
    text: 'select * from delivery_targets($1,$2,$3,$4)',
    values: [toIso(nowMs), after ? toUuid(after.accountId) : FIRST_UUID, after?.uuid ?? FIRST_UUID, limit],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    kind: row.target_kind,
    uuid: row.target_id,
    hasDue: row.ready,
    isActive: row.open,
  }))
}

/** A delivery that this node has claimed, with all that its request needs. */
export type Claimed = {
  accountId: AccountId
  id: DeliveryId
  /** Its position among all deliveries; target and seq are the key. */
  seq: number
  claim: Claim
  kind: TargetKind
  targetUuid: string
  eventId: EventId
  eventType: EventType
  /** Attempts that failed before. */
  attempts: number
  /** Null where the event is no longer stored. */
  event: { atMs: number; data: unknown } | null
  /** Null where the target is gone. */
  receiver: Receiver | null
  message: EventMessage | null
}

/** By which node and when it was claimed: only the last claim's holder may write the result. */
export type Claim = { node: number; atMs: number }

export type Receiver = {
  url: string
  /** Sealed, as is the previous one. */
  secret: Buffer
  previousSecret: Buffer | null
  previousUntilMs: number | null
}

/** The message of an event. */
export type EventMessage = {
  id: MessageId
  live: boolean
  channel: Channel
  messageType: MessageType
  recipient: string
  country: string | null
  sender: string | null
  provider: string
  metadata: unknown
  amount: number
  parts: number | null
  errorCode: string | null
  errorDetail: string | null
  currency: string
  context: ConversationView | null
}

type RawMessage = {
  live: boolean
  channel: Channel
  message_type: MessageType
  recipient: string
  country: string | null
  sender: string | null
  provider: string
  metadata: unknown
  amount: number
  parts: number | null
  error_code: string | null
  error_detail: string | null
  currency: string
  context: ConversationView | null
}

type RawClaim = RawMessage & {
  account_id: string
  id: string
  seq: number
  target_kind: TargetKind
  target_id: string
  event_id: string
  event_type: EventType
  attempts: number
  event_at: Date | null
  data: unknown
  url: string | null
  secret: Buffer | null
  previous_secret: Buffer | null
  previous_until: Date | null
  message_id: string | null
}

/** Claims due deliveries for this node; per target at most as many as its lane has room for. */
export async function claimDeliveries(
  db: Db,
  claim: Claim,
  room: readonly { accountId: AccountId; targetUuid: string; limit: number }[],
): Promise<Claimed[]> {
  const { rows } = await db.query<RawClaim>({
    name: 'claim_deliveries',
    text: 'select * from claim_deliveries($1,$2,$3,$4,$5)',
    values: [
      claim.node,
      toIso(claim.atMs),
      uuidArray(room, each => each.accountId),
      uuidArray(room, each => each.targetUuid),
      int4Array(room, each => each.limit),
    ],
  })
  return rows.map(row => toClaimed(row, claim))
}

function toClaimed(row: RawClaim, claim: Claim): Claimed {
  return {
    accountId: fromUuid('acc', row.account_id),
    id: fromUuid('dlv', row.id),
    seq: row.seq,
    claim,
    kind: row.target_kind,
    targetUuid: row.target_id,
    eventId: fromUuid('evt', row.event_id),
    eventType: row.event_type,
    attempts: row.attempts,
    event: row.event_at && { atMs: row.event_at.getTime(), data: row.data },
    receiver:
      row.url === null || row.secret === null
        ? null
        : {
            url: row.url,
            secret: row.secret,
            previousSecret: row.previous_secret,
            previousUntilMs: row.previous_until?.getTime() ?? null,
          },
    message: row.message_id === null ? null : toMessage(row, row.message_id),
  }
}

function toMessage(row: RawMessage, uuid: string): EventMessage {
  return {
    id: fromUuid('msg', uuid),
    live: row.live,
    channel: row.channel,
    messageType: row.message_type,
    recipient: row.recipient,
    country: row.country,
    sender: row.sender,
    provider: row.provider,
    metadata: row.metadata,
    amount: row.amount,
    parts: row.parts,
    errorCode: row.error_code,
    errorDetail: row.error_detail,
    currency: row.currency,
    context: row.context,
  }
}

/** An event, in the same form as `claimDeliveries` returns it; null where it is no longer stored. */
export async function selectEvent(
  db: Db,
  accountId: AccountId,
  id: EventId,
): Promise<{ atMs: number; data: unknown; message: EventMessage | null } | null> {
  const { rows } = await db.query<RawMessage & { at: Date; data: unknown; message_id: string | null }>({
    name: 'event_by_id',
    text: `select e.at, e.data, m.id as message_id, m.live, m.channel, m.message_type, m.recipient, m.country,
                  case when m.channel = 'official_chatapp' and m.sender is null
                       then official_name(m.account_id, m.connection_id) else m.sender end as sender,
                  m.provider, m.metadata, m.amount, m.parts, m.error_code, m.error_detail, c.currency,
                  m.content -> 'context' as context
             from events e
             left join messages m on m.account_id = e.account_id and m.id = e.message_id
             left join accounts c on c.id = e.account_id
            where e.account_id = $1 and e.id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  const row = rows[0]
  if (!row) return null
  return {
    atMs: row.at.getTime(),
    data: row.data,
    message: row.message_id === null ? null : toMessage(row, row.message_id),
  }
}

/** A delivery as it was claimed: claimed anew, it is another's. */
type ClaimRef = Pick<Claimed, 'accountId' | 'targetUuid' | 'seq' | 'id' | 'claim'>

function claimColumns(rows: readonly ClaimRef[]): Buffer[] {
  return [
    uuidArray(rows, row => row.accountId),
    uuidArray(rows, row => row.targetUuid),
    int8Array(rows, row => row.seq),
    uuidArray(rows, row => row.id),
    int8Array(rows, row => row.claim.node),
    timeArray(rows, row => row.claim.atMs),
  ]
}

/** The result of one attempt, as it is stored. */
export type Finish = ClaimRef & {
  status: 'delivered' | 'pending' | 'failed'
  dueAtMs: number | null
  httpStatus: number | null
  error: string | null
}

/** An endpoint's health after its attempts. */
export type Health = { accountId: AccountId; webhookId: WebhookId; failingSinceMs: number | null }

/** Stores the results of attempts, except those whose delivery was claimed anew; returns their endpoints' health. */
export async function finishDeliveries(db: Db, nowMs: number, rows: readonly Finish[]): Promise<Health[]> {
  const { rows: health } = await db.query<{
    account_id: string
    endpoint_id: string
    failing_since: Date | null
  }>({
    name: 'finish_deliveries',
    text: 'select * from finish_deliveries($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)',
    values: [
      toIso(nowMs),
      ...claimColumns(rows),
      textArray(rows, row => row.status),
      timeArray(rows, row => row.dueAtMs),
      int2Array(rows, row => row.httpStatus),
      textArray(rows, row => row.error),
    ],
  })
  return health.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    webhookId: fromUuid('whk', row.endpoint_id),
    failingSinceMs: row.failing_since?.getTime() ?? null,
  }))
}

/** Gives claimed deliveries back unchanged: no attempt is counted. */
export async function releaseDeliveries(db: Db, rows: readonly ClaimRef[]): Promise<void> {
  await db.query({
    name: 'give_back_deliveries',
    text: 'select release_deliveries($1,$2,$3,$4,$5,$6)',
    values: claimColumns(rows),
  })
}

/** Frees deliveries of dead nodes, and those that `node` has claimed before `claimedBeforeMs` without a result; returns how many. */
export async function freeDeliveries(db: Db, node: number, claimedBeforeMs: number): Promise<number> {
  const { rows } = await db.query<{ freed: number }>({
    name: 'free_deliveries',
    text: 'select free_deliveries($1,$2) as freed',
    values: [node, toIso(claimedBeforeMs)],
  })
  return rows[0]!.freed
}

/**
 * Brings back deliveries that a clock that was far ahead has put off. `longestWaitsMs` are the longest waits after each
 * number of failed attempts. Returns how many.
 */
export async function recallDeliveries(
  db: Db,
  nowMs: number,
  longestWaitsMs: readonly number[],
): Promise<number> {
  const { rows } = await db.query<{ recalled: number }>({
    name: 'recall_deliveries',
    timeoutMs: RECALL_TIMEOUT_MS,
    text: `select recall_deliveries($1, array(select ms * interval '1 ms' from unnest($2::integer[]) as ms)) as recalled`,
    values: [toIso(nowMs), int4Array(longestWaitsMs, ms => ms)],
  })
  return rows[0]!.recalled
}

/** Cancels deliveries that wait for a disabled or removed target, at most `limit`; returns how many. */
export async function cancelDeliveries(
  db: Db,
  nowMs: number,
  target: { accountId: AccountId; uuid: string },
  limit: number,
): Promise<number> {
  const { rows } = await db.query<{ cancelled: number }>({
    name: 'cancel_deliveries',
    text: 'select cancel_deliveries($1,$2,$3,$4) as cancelled',
    values: [toIso(nowMs), toUuid(target.accountId), target.uuid, limit],
  })
  return rows[0]!.cancelled
}

/** Waiting deliveries that are counted one by one for the metrics: some 20 ms. */
const MAX_COUNTED = 20_000

/** How many deliveries wait, for the metrics: above `most` as PostgreSQL's statistics estimate, if they say more. */
export async function countWaiting(db: Db, most = MAX_COUNTED): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'count_waiting_deliveries',
    text: 'select count_waiting_deliveries($1)::float8 as n',
    values: [most],
  })
  return rows[0]!.n
}

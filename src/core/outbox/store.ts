import type { Channel, MessageType } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import {
  type AccountId,
  type ConnectionId,
  fromUuid,
  type Id,
  type MessageId,
  toUuid,
} from '../../lib/ids.ts'
import type { StoredContent } from './stored-content.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** A node that has not been seen for this long has lost what it held, in ms. */
export const NODE_LEASE_MS = 5_000

/** SQL: whether a node lives that lived at the time that the statement has in this place. */
export function livesSince(place: `$${number}`): string {
  return `exists (select 1 from nodes where started_at <= ${place} and seen_at > now() - interval '${NODE_LEASE_MS} ms')`
}

/** Enters this process among the living; its number is its lease. `alone` says that no other can live, as on the embedded store. */
export async function registerNode(db: Db, host: string, nowMs: number, alone: boolean): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'register_node',
    text: `with dead as (delete from nodes where $3)
           insert into nodes (host, started_at) values ($1, $2) returning id`,
    values: [host, toIso(nowMs), alone],
  })
  return rows[0]!.id
}

/**
 * A sign of life: for how long there had been none, in ms by the database's clock; null when the others have
 * given this node up already.
 */
export async function beat(db: Db, node: number): Promise<number | null> {
  const { rows } = await db.query<{ silentMs: number }>({
    name: 'beat',
    text: `with before as (select id, seen_at from nodes where id = $1)
           update nodes n set seen_at = now() from before b where n.id = b.id
           returning (extract(epoch from now() - b.seen_at) * 1000)::double precision as "silentMs"`,
    values: [node],
  })
  return rows[0]?.silentMs ?? null
}

/** Strikes out nodes whose lease is over; how many. */
export async function buryDead(db: Db): Promise<number> {
  const { rowCount } = await db.query({
    name: 'bury_dead',
    text: `delete from nodes where seen_at < now() - make_interval(secs => $1::double precision / 1000)`,
    values: [NODE_LEASE_MS],
  })
  return rowCount ?? 0
}

/** Leaves in good order. */
export async function signOff(db: Db, node: number): Promise<void> {
  await db.query({ name: 'sign_off', text: 'delete from nodes where id = $1', values: [node] })
}

/** The nodes that live. */
export async function countNodes(db: Db): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'count_nodes',
    text: `select count(*)::integer as n from nodes where seen_at > now() - make_interval(secs => $1::double precision / 1000)`,
    values: [NODE_LEASE_MS],
  })
  return rows[0]!.n
}

/** Frees what dead nodes held, at most `limit` of it; begun attempts become unknown until `deadlineMs`. */
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
  /** Sealed text of an OTP. */
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
  secret: Buffer | null
}

/** Takes due rows for this node, of each connection at most as many as it has room for. */
export async function claimDue(
  db: Db,
  node: number,
  nowMs: number,
  room: readonly { connectionId: ConnectionId; limit: number }[],
): Promise<ClaimedRow[]> {
  const { rows } = await db.query<RawClaim>({
    name: 'claim_due',
    text: 'select * from claim_due($1,$2,$3,$4)',
    values: [
      node,
      toIso(nowMs),
      bareArray(room.map(each => toUuid(each.connectionId))),
      bareArray(room.map(each => each.limit)),
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
    secret: row.secret,
  }))
}

/** Gives rows back that this node holds and has not begun. */
export async function giveBack(
  db: Db,
  node: number,
  items: readonly { accountId: AccountId; id: MessageId }[],
): Promise<void> {
  if (items.length === 0) return
  await db.query({
    name: 'give_back',
    text: 'select give_back($1,$2,$3)',
    values: [
      node,
      bareArray(items.map(item => toUuid(item.accountId))),
      bareArray(items.map(item => toUuid(item.id))),
    ],
  })
}

/** A row that a node holds, as the store has it. */
export type OwnedRow = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  begun: boolean
  attempt: number
}

/** What a node holds according to the store, beside what it has in its hands. */
export async function listOwned(db: Db, node: number, inHand: readonly MessageId[]): Promise<OwnedRow[]> {
  const { rows } = await db.query<{
    account_id: string
    message_id: string
    connection_id: string
    begun: boolean
    attempt: number
  }>({
    name: 'list_owned',
    text: `select o.account_id, o.message_id, o.connection_id, o.begun, m.attempt
             from outbox o join messages m on m.account_id = o.account_id and m.id = o.message_id
            where o.owner = $1 and o.message_id <> all ($2::uuid[])`,
    values: [node, bareArray(inHand.map(toUuid))],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    id: fromUuid('msg', row.message_id),
    connectionId: fromUuid('cnn', row.connection_id),
    begun: row.begun,
    attempt: row.attempt,
  }))
}

/** How many messages are due and wait, or are unknown; for the metrics. */
export async function countOutbox(db: Db, nowMs: number): Promise<{ waiting: number; unknown: number }> {
  const { rows } = await db.query<{ waiting: number; unknown: number }>({
    name: 'count_outbox',
    text: `select count(*) filter (where owner is null and not begun and due_at <= $1)::integer as waiting,
                  count(*) filter (where owner is null and begun)::integer as unknown from outbox`,
    values: [toIso(nowMs)],
  })
  return rows[0]!
}

/** Keeps the bytes of a file that came with a request until its message is done. */
export async function storeAttachment(
  db: Db,
  accountId: AccountId,
  id: Id<'att'>,
  messageId: MessageId,
  bytes: Buffer,
): Promise<void> {
  await db.query({
    name: 'store_attachment',
    text: 'insert into attachments (account_id, id, message_id, bytes) values ($1,$2,$3,$4)',
    values: [toUuid(accountId), toUuid(id), toUuid(messageId), bytes],
  })
}

/** Forgets the bytes of a file whose message was not accepted. */
export async function dropAttachment(db: Db, accountId: AccountId, id: Id<'att'>): Promise<void> {
  await db.query({
    name: 'drop_attachment',
    text: 'delete from attachments where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
}

/** The bytes of a stored file, or null when they are gone. */
export async function readAttachment(db: Db, accountId: AccountId, id: Id<'att'>): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>({
    name: 'read_attachment',
    text: 'select bytes from attachments where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0]?.bytes ?? null
}

/** Drops files older than a time whose message no longer waits in the outbox, at most `limit`; how many. */
export async function sweepAttachments(db: Db, createdBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep_attachments',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from attachments where ctid = any (array(
             select a.ctid from attachments a where a.id < first_uuid_at($1)
               and not exists (select 1 from outbox o where o.account_id = a.account_id and o.message_id = a.message_id)
              limit $2 for update of a skip locked))`,
    values: [toIso(createdBeforeMs), limit],
  })
  return rowCount ?? 0
}

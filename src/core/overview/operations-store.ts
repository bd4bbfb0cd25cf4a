import type { TimePosition } from '../../contract/cursor.ts'
import type { Channel, MessageType } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import { LEASE_IS_VALID } from '../outbox/node-store.ts'
import { WAITED } from '../outbox/store.ts'

/** Counts stop here, so that reading a huge backlog stays cheap. */
export const MAX_COUNTED = 10_000

export type NodeRow = {
  id: number
  host: string
  startedAtMs: number
  seenAtMs: number
  alive: boolean
  holds: number
  lanes: { accountId: AccountId; accountName: string; fence: number }[]
}

export async function listNodes(db: Db): Promise<NodeRow[]> {
  const { rows } = await db.query<
    Omit<NodeRow, 'lanes'> & { lanes: { account: string; name: string; fence: number }[] }
  >({
    name: 'nodes_list',
    text: `select n.id, n.host, floor(extract(epoch from n.started_at) * 1000)::bigint as "startedAtMs",
        floor(extract(epoch from n.seen_at) * 1000)::bigint as "seenAtMs",
        ${LEASE_IS_VALID} as alive,
        (select count(*) from (select 1 from outbox o where o.owner = n.id limit $1) h)::integer as holds,
        coalesce((select json_agg(json_build_object('account', l.account_id, 'name', a.name, 'fence', l.fence) order by a.name, a.id)
                    from bulk_lanes l join accounts a on a.id = l.account_id where l.node = n.id), '[]') as lanes
      from nodes n order by n.id`,
    values: [MAX_COUNTED],
  })
  return rows.map(({ lanes, ...rest }) => ({
    ...rest,
    lanes: lanes.map(({ account, name, fence }) => ({
      accountId: fromUuid('acc', account),
      accountName: name,
      fence,
    })),
  }))
}

export type QueueRow = {
  connectionId: ConnectionId
  name: string | null
  provider: string | null
  channels: Channel[]
  due: number
  scheduled: number
  unknown: number
  lagMs: number
}

/** Queues per connection, including deleted connections that still have messages. */
export async function listQueues(db: Db, nowMs: number): Promise<QueueRow[]> {
  const count = (where: string) =>
    `(select count(*) from (select 1 from outbox o where o.connection_id = c.id and ${where} limit $2) x)::integer`
  const waits = 'o.owner is null and not o.begun'
  const { rows } = await db.query<Omit<QueueRow, 'connectionId'> & { uuid: string }>({
    name: 'queues_list',
    text: `with recursive ${WAITED}, every as (
        select id from connections union select id from waited where id is not null
      )
      select c.id as uuid, k.name, k.provider, coalesce(k.channels, '{}') as channels,
        ${count(`${waits} and o.due_at <= $1`)} as due, ${count(`${waits} and o.due_at > $1`)} as scheduled,
        ${count('o.owner is null and o.begun')} as unknown,
        coalesce(greatest(0, floor(extract(epoch from $1::timestamptz - (
          select min(o.due_at) from outbox o where o.connection_id = c.id and ${waits})) * 1000)), 0)::bigint as "lagMs"
      from every c left join connections k on k.id = c.id order by k.priority_order nulls last, c.id`,
    values: [toIso(nowMs), MAX_COUNTED],
  })
  return rows.map(({ uuid, ...rest }) => ({ connectionId: fromUuid('cnn', uuid), ...rest }))
}

export type OtherQueues = {
  deliveriesDue: number
  parkedReceipts: number
  running: number
  queued: number
  paused: number
  validating: number
}

export async function countOtherQueues(db: Db): Promise<OtherQueues> {
  const jobs = (status: string) =>
    `(select count(*) from bulk_jobs where status = '${status}' and ended_at is null)::integer as ${status}`
  const { rows } = await db.query<OtherQueues>({
    name: 'queues_others',
    text: `select
        (select count(*) from (select 1 from deliveries where status = 'pending' and owner is null limit $1) d)::integer
          as "deliveriesDue",
        (select count(*) from (select 1 from parked_receipts limit $1) p)::integer as "parkedReceipts",
        ${['running', 'queued', 'paused', 'validating'].map(jobs).join(', ')}`,
    values: [MAX_COUNTED],
  })
  return rows[0]!
}

export type UnknownRow = {
  messageId: MessageId
  accountId: AccountId
  accountName: string
  currency: string
  connectionId: ConnectionId
  channel: Channel
  messageType: MessageType
  recipient: string
  provider: string
  attempt: number
  detail: string | null
  amount: number
  unknownAtMs: number
  closesAtMs: number
  asks: number
}

/** Unknown messages, those with the earliest deadline first; `after` is the last one of the previous page. */
export async function listUnknown(db: Db, after: TimePosition | null, limit: number): Promise<UnknownRow[]> {
  const { rows } = await db.query<
    Omit<UnknownRow, 'messageId' | 'accountId' | 'connectionId'> & {
      message: string
      account: string
      connection: string
    }
  >({
    name: 'unknown_list',
    text: `select o.message_id as message, o.account_id as account, a.name as "accountName", a.currency,
        m.connection_id as connection, m.channel, m.message_type as "messageType", m.recipient, m.provider, m.attempt,
        m.error_detail as detail, m.amount, floor(extract(epoch from m.unknown_at) * 1000)::bigint as "unknownAtMs",
        floor(extract(epoch from o.due_at) * 1000)::bigint as "closesAtMs", o.asks
      from outbox o
      -- Each by its own key: where many are unknown, the planner would rather read all messages there are.
      cross join lateral (select * from messages x where x.account_id = o.account_id and x.id = o.message_id limit 1) m
      join accounts a on a.id = o.account_id
      where o.owner is null and o.begun and m.status = 'unknown'
        and ($1::timestamptz is null or (o.due_at >= $1 and (o.due_at, o.message_id) > ($1, $2)))
      order by o.due_at, o.message_id limit $3`,
    values: [after && toIso(after.atMs), after && toUuid(after.messageId), limit],
  })
  return rows.map(({ message, account, connection, ...rest }) => ({
    ...rest,
    messageId: fromUuid('msg', message),
    accountId: fromUuid('acc', account),
    connectionId: fromUuid('cnn', connection),
  }))
}

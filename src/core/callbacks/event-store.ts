import type { EventType } from '../../contract/webhook.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type Id, type MessageId, toUuid } from '../../lib/ids.ts'
import type { DeliveryId, EventId, TargetKind } from './store.ts'

export type NewEvent = { accountId: AccountId; id: EventId; type: EventType; atMs: number; data: unknown }

/** Stores an event; a trigger makes its deliveries to the endpoints that listen (migrations/0005, fan_out). */
export async function insertEvent(db: Db, event: NewEvent): Promise<void> {
  await db.query({
    name: 'event_insert',
    text: 'insert into events (account_id, id, type, at, data) values ($1, $2, $3, $4, $5)',
    values: [
      toUuid(event.accountId),
      toUuid(event.id),
      event.type,
      toIso(event.atMs),
      JSON.stringify(event.data),
    ],
  })
}

/** Stores only the events that an endpoint listens to, in one statement; returns how many. */
export async function insertSubscribedEvents(db: Db, events: readonly NewEvent[]): Promise<number> {
  if (events.length === 0) return 0
  const { rowCount } = await db.query({
    name: 'events_insert_heard',
    text: `insert into events (account_id, id, type, at, data)
           select i.account_id, i.id, i.type, i.at, i.data::jsonb
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[]) as i (account_id, id, type, at, data)
             join accounts c on c.id = i.account_id
            where i.type = any (c.event_types)`,
    values: [
      uuidArray(events, event => event.accountId),
      uuidArray(events, event => event.id),
      textArray(events, event => event.type),
      timeArray(events, event => event.atMs),
      textArray(events, event => JSON.stringify(event.data)),
    ],
  })
  return rowCount ?? 0
}

/** Queues one delivery for its target. */
export async function insertDelivery(
  db: Db,
  delivery: {
    accountId: AccountId
    id: DeliveryId
    kind: TargetKind
    targetId: Id<'whk' | 'snd'>
    eventId: EventId
    eventType: EventType
    messageId: MessageId | null
    replayOf: DeliveryId | null
    dueAtMs: number
  },
): Promise<void> {
  await db.query({
    name: 'delivery_insert',
    text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, order_key, replay_of, due_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      toUuid(delivery.accountId),
      toUuid(delivery.id),
      delivery.kind,
      toUuid(delivery.targetId),
      toUuid(delivery.eventId),
      delivery.eventType,
      delivery.messageId && toUuid(delivery.messageId),
      delivery.replayOf && toUuid(delivery.replayOf),
      toIso(delivery.dueAtMs),
    ],
  })
}

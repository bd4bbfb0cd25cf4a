import type { Db } from '../../infra/db.ts'
import { int2Array, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** A message to whose parts the provider gave ids of their own. */
export type SplitMessage = {
  connectionId: ConnectionId
  /** The provider id of the message itself, which differs from those of its parts. */
  wholeId: string
  partIds: readonly string[]
  total: number
}

export type PartRef = { connectionId: ConnectionId; partId: string }

/** Stores the parts' ids. If a provider uses an id again, the earlier part or message with that id is overwritten. */
export async function storeParts(db: Db, nowMs: number, wholes: readonly SplitMessage[]): Promise<void> {
  const parts = wholes.flatMap(whole => whole.partIds.map(partId => ({ ...whole, partId })))
  await db.query({
    name: 'message_parts_note',
    // In one order, so that two nodes cannot deadlock.
    text: `with noted as (
             insert into message_parts (connection_id, part_id, whole_id, total, noted_at)
             select distinct on (i.connection_id, i.part_id) i.connection_id, i.part_id, i.whole_id, i.total, $5::timestamptz
               from unnest($1::uuid[], $2::text[], $3::text[], $4::smallint[]) with ordinality
                 as i (connection_id, part_id, whole_id, total, n)
              order by i.connection_id, i.part_id, i.n desc
             on conflict (connection_id, part_id) do update
               set whole_id = excluded.whole_id, total = excluded.total, status = null, noted_at = excluded.noted_at
             returning connection_id, part_id)
           -- Each by its key, whatever the planner thinks. One that is being given to a message at this moment is that one's.
           delete from provider_refs where ctid = any (array(
             select r.ctid from noted n cross join lateral (
               select f.ctid from provider_refs f where f.connection_id = n.connection_id and f.provider_id = n.part_id
                limit 1 for update skip locked) r))`,
    values: [
      uuidArray(parts, part => part.connectionId),
      textArray(parts, part => part.partId),
      textArray(parts, part => part.wholeId),
      int2Array(parts, part => part.total),
      toIso(nowMs),
    ],
  })
}

/** Applies parked receipts of these parts to their messages; returns the indexes of the ids that are parts. */
export async function joinParts(db: Db, nowMs: number, parts: readonly PartRef[]): Promise<Set<number>> {
  const { rows } = await db.query<{ item: number }>({
    name: 'join_parts',
    text: 'select item from join_parts($1,$2,$3) as item',
    values: [
      toIso(nowMs),
      uuidArray(parts, part => part.connectionId),
      textArray(parts, part => part.partId),
    ],
  })
  return new Set(rows.map(({ item }) => item - 1))
}

/** `joinParts` for all receipts that were parked since a time, in case a node died before it called that. */
export async function joinParkedParts(db: Db, nowMs: number, sinceMs: number): Promise<void> {
  await db.query({
    name: 'join_parked_parts',
    timeoutMs: SWEEP_TIMEOUT_MS,
    // `limit 1` forces look-ups row by row: a week has more parts than there are parked receipts.
    text: `select join_parts($1, array_agg(f.connection_id), array_agg(f.provider_id))
             from (select p.connection_id, p.provider_id from parked_receipts p
                    cross join lateral (select 1 from message_parts m
                                         where m.connection_id = p.connection_id and m.part_id = p.provider_id limit 1) m
                    where p.received_at >= $2 and exists (select 1 from message_parts)
                    order by p.received_at limit 1000) f`,
    values: [toIso(nowMs), toIso(sinceMs)],
  })
}

/** Deletes parts that were stored before a time, after which no receipts come; at most `limit`. Returns how many. */
export async function sweepParts(db: Db, notedBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep_message_parts',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from message_parts where ctid = any (array(
             select ctid from message_parts where noted_at < $1 limit $2))`,
    values: [toIso(notedBeforeMs), limit],
  })
  return rowCount ?? 0
}

import type { Db } from '../../infra/db.ts'
import { byteaArray, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'

/** What the parts of one message have in common. */
export type JoinedKey = { connectionId: ConnectionId; from: string; to: string; reference: string }

/** A message that was joined from its parts, with the digests of all of them in their order. */
export type JoinedRow = JoinedKey & { digests: Buffer }

type Raw = { item: number }

/**
 * Stores that these messages were joined; returns the indexes of those that were not before, with the same parts, since a
 * time. The caller holds the locks of `joinParts`.
 */
export async function claimJoined(
  db: Db,
  nowMs: number,
  sinceMs: number,
  joined: readonly JoinedRow[],
): Promise<Set<number>> {
  const { rows } = await db.query<Raw>({
    name: 'inbound_joined_claim',
    text: `with i as (
             select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[]) with ordinality
               as i (connection_id, sender, recipient, reference, digests, item)),
           fresh as (
             insert into inbound_joined as j (connection_id, sender, recipient, reference, digests, joined_at)
             select connection_id, sender, recipient, reference, digests, $6::timestamptz from i
              order by connection_id, sender, recipient, reference
             on conflict (connection_id, sender, recipient, reference) do update
               set digests = excluded.digests, joined_at = excluded.joined_at
               where j.digests <> excluded.digests or j.joined_at < $7
             returning connection_id, sender, recipient, reference)
           select i.item::integer from i join fresh using (connection_id, sender, recipient, reference)`,
    values: [...keyArrays(joined), byteaArray(joined, each => each.digests), toIso(nowMs), toIso(sinceMs)],
  })
  return new Set(rows.map(({ item }) => item - 1))
}

/** The messages that were joined under these keys, by the index of the key. */
export async function readJoined(
  db: Db,
  keys: readonly JoinedKey[],
): Promise<Map<number, { digests: Buffer; joinedAtMs: number }>> {
  const { rows } = await db.query<Raw & { digests: Buffer; joined_at: Date }>({
    name: 'inbound_joined_read',
    text: `select i.item::integer, j.digests, j.joined_at
             from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) with ordinality
               as i (connection_id, sender, recipient, reference, item)
             join inbound_joined j using (connection_id, sender, recipient, reference)`,
    values: keyArrays(keys),
  })
  return new Map(
    rows.map(row => [row.item - 1, { digests: row.digests, joinedAtMs: row.joined_at.getTime() }]),
  )
}

/** Deletes at most `limit` that were joined before a time; returns how many. */
export async function sweepJoined(db: Db, joinedBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'inbound_joined_sweep',
    text: `delete from inbound_joined where ctid = any (array(
             select ctid from inbound_joined where joined_at < $1 limit $2))`,
    values: [toIso(joinedBeforeMs), limit],
  })
  return rowCount ?? 0
}

function keyArrays(keys: readonly JoinedKey[]) {
  return [
    uuidArray(keys, key => key.connectionId),
    textArray(keys, key => key.from),
    textArray(keys, key => key.to),
    textArray(keys, key => key.reference),
  ]
}

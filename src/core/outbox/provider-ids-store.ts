import type { Db } from '../../infra/db.ts'
import { textArray } from '../../infra/pg-array.ts'
import { type ConnectionId, toUuid } from '../../lib/ids.ts'

/** Enough to see how a provider spells its ids: their length, letter case and base. */
const MAX_IDS = 200

/** Ids that the provider gave to messages of a connection, the highest first. */
export async function selectProviderIds(db: Db, connectionId: ConnectionId): Promise<string[]> {
  const { rows } = await db.query<{ provider_id: string }>({
    name: 'select_provider_ids',
    // In the order of the primary key, which is read from its end.
    text: `select provider_id from provider_refs where connection_id = $1
            order by connection_id desc, provider_id desc limit $2`,
    values: [toUuid(connectionId), MAX_IDS],
  })
  return rows.map(row => row.provider_id)
}

/** To whom the messages of a connection went, by the provider's ids of them or of their parts. */
export async function selectRecipients(
  db: Db,
  connectionId: ConnectionId,
  providerIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ provider_id: string; recipient: string }>({
    name: 'select_recipients',
    // `limit 1` makes each look-up one by its key, whatever the planner thinks.
    text: `select i.provider_id, m.recipient
             from unnest($2::text[]) as i (provider_id)
            cross join lateral (
              select coalesce((select p.whole_id from message_parts p
                                where p.connection_id = $1 and p.part_id = i.provider_id), i.provider_id) as id) w
            cross join lateral (
              select r.account_id, r.message_id from provider_refs r
               where r.connection_id = $1 and r.provider_id = w.id limit 1) r
            cross join lateral (
              select m.recipient from messages m
               where m.account_id = r.account_id and m.id = r.message_id limit 1) m`,
    values: [toUuid(connectionId), textArray(providerIds, id => id)],
  })
  return new Map(rows.map(row => [row.provider_id, row.recipient]))
}

import type { Db } from '../../infra/db.ts'
import { type ConnectionId, toUuid } from '../../lib/ids.ts'

/** Enough to see how a provider spells its ids: their length, letter case and base. */
const MOST_IDS = 200

/** Ids that the provider gave to messages of a connection, the highest first. */
export async function selectProviderIds(db: Db, connectionId: ConnectionId): Promise<string[]> {
  const { rows } = await db.query<{ provider_id: string }>({
    name: 'select_provider_ids',
    // In the order of the primary key, which is read from its end.
    text: `select provider_id from provider_refs where connection_id = $1
            order by connection_id desc, provider_id desc limit $2`,
    values: [toUuid(connectionId), MOST_IDS],
  })
  return rows.map(row => row.provider_id)
}

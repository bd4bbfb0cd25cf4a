import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'

/** A node whose last heartbeat is older than this has lost what it held, in ms. */
export const NODE_LEASE_MS = 5_000

/** SQL condition: the lease of a row of `nodes` is valid. */
export const LEASE_IS_VALID = `seen_at > now() - interval '${NODE_LEASE_MS} ms'`

/** SQL condition: some node has a valid lease, and had started by the time in parameter `place`. */
export function someNodeRunsSince(place: `$${number}`): string {
  return `exists (select 1 from nodes where started_at <= ${place} and ${LEASE_IS_VALID})`
}

/**
 * Registers this process as a node; the returned number identifies its lease. `isExclusive`: no other process can use
 * the database, as with the embedded one, so all other nodes are removed. The start is in whole
 * milliseconds, like the times that it is compared with.
 */
export async function registerNode(
  db: Db,
  host: string,
  nowMs: number,
  isExclusive: boolean,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'register_node',
    text: `with dead as (delete from nodes where $3)
           insert into nodes (host, started_at) values ($1, least($2, date_trunc('milliseconds', now()))) returning id`,
    values: [host, toIso(nowMs), isExclusive],
  })
  return rows[0]!.id
}

/**
 * A heartbeat, which renews the lease. Returns the time since the one before, in ms by the database's clock,
 * negative if that was set back; null if other nodes have removed this one already.
 */
export async function sendHeartbeat(db: Db, node: number): Promise<number | null> {
  const { rows } = await db.query<{ silentMs: number }>({
    name: 'send_heartbeat',
    text: `with before as (select id, seen_at from nodes where id = $1)
           update nodes n set seen_at = now() from before b where n.id = b.id
           returning (extract(epoch from now() - b.seen_at) * 1000)::double precision as "silentMs"`,
    values: [node],
  })
  return rows[0]?.silentMs ?? null
}

/**
 * Removes nodes whose lease has expired, and those whose last heartbeat is in the future: they died before the database's
 * clock was set back. Returns how many.
 */
export async function removeExpiredNodes(db: Db): Promise<number> {
  const { rowCount } = await db.query({
    name: 'remove_expired_nodes',
    text: `delete from nodes where not (${LEASE_IS_VALID}) or seen_at > now() + interval '${NODE_LEASE_MS} ms'`,
  })
  return rowCount ?? 0
}

/** Removes this node at shutdown. */
export async function removeNode(db: Db, node: number): Promise<void> {
  await db.query({ name: 'remove_node', text: 'delete from nodes where id = $1', values: [node] })
}

/** Counts the nodes with a valid lease. */
export async function countNodes(db: Db): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'count_nodes',
    text: `select count(*)::integer as n from nodes where ${LEASE_IS_VALID}`,
  })
  return rows[0]!.n
}

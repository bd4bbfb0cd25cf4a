import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'

/** A node that has not been seen for this long has lost what it held, in ms. */
export const NODE_LEASE_MS = 5_000

/** SQL: whether a row of `nodes` is a living one's. */
export const LIVES = `seen_at > now() - interval '${NODE_LEASE_MS} ms'`

/** SQL: whether a node lives that lived, by its own clock or the database's, at the time that the statement has in this place. */
export function livesSince(place: `$${number}`): string {
  return `exists (select 1 from nodes where started_at <= ${place} and ${LIVES})`
}

/**
 * Enters this process among the living; its number is its lease. `alone` says that no other can live, as on the
 * embedded store. It lives since a whole millisecond, as what it is held against is kept.
 */
export async function registerNode(db: Db, host: string, nowMs: number, alone: boolean): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'register_node',
    text: `with dead as (delete from nodes where $3)
           insert into nodes (host, started_at) values ($1, least($2, date_trunc('milliseconds', now()))) returning id`,
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
    text: `delete from nodes where not (${LIVES})`,
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
    text: `select count(*)::integer as n from nodes where ${LIVES}`,
  })
  return rows[0]!.n
}

import type { Db } from '../../infra/db.ts'
import { textArray } from '../../infra/pg-array.ts'

/**
 * Waits until no other transaction has one of these keys, and has them until its own end: what two nodes store at the same
 * moment is then seen by the second. In one order, so that two nodes cannot deadlock.
 */
export async function takeTurns(tx: Db, kind: 'parts' | 'keywords', keys: readonly string[]): Promise<void> {
  await tx.query({
    name: 'inbound_turns',
    text: `select pg_advisory_xact_lock(k) from (
             select distinct hashtextextended(key, 0) as k from unnest($1::text[]) as i (key) order by 1) turns`,
    values: [textArray(keys, key => `posthorn_${kind}:${key}`)],
  })
}

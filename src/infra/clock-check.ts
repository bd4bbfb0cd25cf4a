import type { Clock } from '../lib/clock.ts'
import type { Db } from './db.ts'

/** More than time servers ever leave between two machines, and a small part of whatever is kept for a time. */
const MOST_APART_MS = 60_000

/**
 * A check that rejects while this machine's clock is far from the database's, and so from those of other
 * nodes: whatever goes by the age of things would come too early, or too late.
 */
export function createClockCheck({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): () => Promise<void> {
  return async () => {
    const { rows } = await db.query<{ nowMs: number }>({
      name: 'database_time',
      text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"',
    })
    const aheadMs = clock.now() - rows[0]!.nowMs
    if (Math.abs(aheadMs) <= MOST_APART_MS) return
    const minutes = Math.round(Math.abs(aheadMs) / 60_000)
    const where = aheadMs > 0 ? 'ahead of' : 'behind'
    throw new Error(`the clock of this machine is ${minutes} min ${where} the database's: set it`)
  }
}

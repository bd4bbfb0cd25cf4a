import type { Clock } from '../lib/clock.ts'
import type { Db } from './db.ts'

/** Far more than clocks differ that are synchronised, and little compared with retention times. */
const MAX_APART_MS = 60_000

/**
 * Returns a check that rejects while this machine's clock differs by more than a minute from the database's,
 * and so possibly from those of other nodes: everything that depends on the age of rows would run too early
 * or too late.
 */
export function createClockCheck({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): () => Promise<void> {
  return async () => {
    const { rows } = await db.query<{ nowMs: number }>({
      name: 'database_time',
      text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"',
    })
    const aheadMs = clock.now() - rows[0]!.nowMs
    if (Math.abs(aheadMs) <= MAX_APART_MS) return
    const minutes = Math.round(Math.abs(aheadMs) / 60_000)
    const where = aheadMs > 0 ? 'ahead of' : 'behind'
    throw new Error(`the clock of this machine is ${minutes} min ${where} the database's: set it`)
  }
}

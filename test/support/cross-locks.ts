import type { Database, Db } from '../../src/infra/db.ts'
import { lookUntil } from './look-until.ts'

type TakeLock = (tx: Db) => Promise<unknown>

/**
 * Takes two locks, one after the other, as another transaction would, and lets the work wait for the first; fails if the
 * work holds the second meanwhile. No other work may wait for locks in this database.
 */
export async function crossLocks(
  db: Database,
  first: TakeLock,
  work: () => Promise<unknown>,
  second: TakeLock,
): Promise<void> {
  let done: Promise<unknown> | undefined
  await db.transaction(async tx => {
    await first(tx)
    done = work()
    await lookUntil(
      () => countWaiting(db),
      n => n === 1,
      10_000,
    )
    await second(tx)
  })
  await done
}

/** How many statements wait for locks in this database. */
export async function countWaiting(db: Database): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'waiting_for_locks',
    text: `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows[0]!.n
}

import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  dropMonth,
  hasPendingDeliveries,
  hasPendingEvents,
  listMonthsBefore,
  type Monthly,
  sweepStrays,
} from './month-store.ts'

/** For how long data is kept; null for ever. */
export type RetentionPeriods = {
  /** Events and their deliveries, in ms. */
  eventsMs: number | null
  /** Inbound messages, in ms. */
  inboundMs: number | null
  /** Verifications, in ms. */
  verificationsMs: number | null
}

export type Retention = {
  /**
   * Drops the months that ended longer ago than they are kept; returns the partitions' names.
   * Rejects if a table was in use, after it has done the others.
   */
  round(): Promise<string[]>
}

const MAX_STRAYS = 20_000

/** Deletes by months, since dropping a partition is fast and leaves no dead rows. */
export function createRetention({
  db,
  clock,
  keep,
}: {
  db: Database
  clock: Clock
  keep: RetentionPeriods
}): Retention {
  const tables: readonly [Monthly, number | null][] = [
    ['deliveries', keep.eventsMs],
    ['events', keep.eventsMs],
    ['inbound_messages', keep.inboundMs],
    ['verifications', keep.verificationsMs],
  ]

  async function dropOldMonths(table: Monthly, beforeMs: number): Promise<string[]> {
    const dropped: string[] = []
    for (const month of await listMonthsBefore(db, table, beforeMs)) {
      if (table === 'deliveries' && (await hasPendingDeliveries(db, month))) continue
      if (table === 'events' && (await hasPendingEvents(db, month))) continue
      await dropMonth(db, month)
      dropped.push(month)
    }
    await sweepStrays(db, table, beforeMs, MAX_STRAYS)
    return dropped
  }

  return {
    async round() {
      const dropped: string[] = []
      const failures: unknown[] = []
      for (const [table, keepMs] of tables) {
        if (keepMs === null) continue
        await dropOldMonths(table, clock.now() - keepMs).then(
          months => dropped.push(...months),
          error => failures.push(error),
        )
      }
      if (failures.length > 0) throw failures[0]
      return dropped
    },
  }
}

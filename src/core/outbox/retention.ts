import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  dropMonth,
  hasPendingDeliveries,
  listMonthsBefore,
  type Monthly,
  sweepStrays,
} from './month-store.ts'

/** How long what is kept; null is for ever. */
export type Keep = {
  /** Events, and their deliveries with them, in ms. */
  eventsMs: number | null
  /** What people wrote to us, in ms. */
  inboundMs: number | null
  /** Whom codes were sent to, and what became of it, in ms. */
  verificationsMs: number | null
}

export type Retention = {
  /**
   * Removes the months of which the last moment is older than may be kept; their names.
   * Rejects where a table is in use, after it has seen to the others.
   */
  round(): Promise<string[]>
}

const MOST_STRAYS = 20_000

/** Forgets by the month: a partition goes in one step, whatever is in it, and leaves no holes behind. */
export function createRetention({ db, clock, keep }: { db: Database; clock: Clock; keep: Keep }): Retention {
  const tables: readonly [Monthly, number | null][] = [
    ['deliveries', keep.eventsMs],
    ['events', keep.eventsMs],
    ['inbound_messages', keep.inboundMs],
    ['verifications', keep.verificationsMs],
  ]

  async function forget(table: Monthly, beforeMs: number): Promise<string[]> {
    const dropped: string[] = []
    for (const month of await listMonthsBefore(db, table, beforeMs)) {
      if (table === 'deliveries' && (await hasPendingDeliveries(db, month))) continue
      await dropMonth(db, month)
      dropped.push(month)
    }
    await sweepStrays(db, table, beforeMs, MOST_STRAYS)
    return dropped
  }

  return {
    async round() {
      const dropped: string[] = []
      const failures: unknown[] = []
      for (const [table, keepMs] of tables) {
        if (keepMs === null) continue
        await forget(table, clock.now() - keepMs).then(
          months => dropped.push(...months),
          error => failures.push(error),
        )
      }
      if (failures.length > 0) throw failures[0]
      return dropped
    },
  }
}

import { beginAttempts } from '../core/messages/hot-store.ts'
import { endMessages } from '../core/messages/withdraw-store.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import { retryWhileUnavailable } from '../infra/retry-unavailable.ts'
import type { Clock } from '../lib/clock.ts'
import { byAccountAndId, runSorted } from '../lib/lock-order.ts'
import type { DueClaimerDeps } from './due-claimer.ts'

/**
 * Records an attempt, many in one statement: its number, or null where the message
 * is no longer this node's to send, or must not be sent any more. Waits while the database is down, for some time also in
 * a stop: an attempt that may be recorded and is not made would leave its message unknown.
 */
export type RecordAttempt = (item: OutboxItem) => Promise<number | null>

export type AttemptRecorderDeps = Pick<DueClaimerDeps, 'findUnwanted'> & {
  db: Database
  clock: Clock
  node(): number
  stopping(): boolean
}

/** A message that was held for longer is checked again, like one from the outbox: its code may be void, or its recipient may have opted out. */
const FRESH_MS = 1_000

export function createAttemptRecorder({
  db,
  clock,
  node,
  stopping,
  findUnwanted,
}: AttemptRecorderDeps): RecordAttempt {
  function recordAttempts(items: OutboxItem[]): Promise<(number | null)[]> {
    const nowMs = clock.now()
    return runSorted(items, byAccountAndId, sorted =>
      retryWhileUnavailable(
        clock,
        () => !stopping(),
        async repeated => {
          await endUnwantedStale(sorted)
          return beginAttempts(db, node(), nowMs, sorted, repeated)
        },
      ),
    )
  }

  /** Ends messages that must not be sent any more. Their attempt then cannot begin. */
  async function endUnwantedStale(items: readonly OutboxItem[]): Promise<void> {
    const freshMs = clock.monotonic() - FRESH_MS
    const stale = items.filter(({ heldAtMs }) => heldAtMs !== undefined && heldAtMs <= freshMs)
    if (stale.length > 0) await endMessages(db, clock.now(), await findUnwanted(stale))
  }

  const batcher = createBatcher<OutboxItem, number | null>({ flush: recordAttempts })
  return batcher.add
}

import { type Batcher, createBatcher } from '../../infra/batch.ts'
import type { Database } from '../../infra/db.ts'
import { type Repeatable, retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import { type Failure, writeOrSplit } from '../../infra/write-or-split.ts'
import type { Clock } from '../../lib/clock.ts'
import { byAccountAndId, compare, runSorted } from '../../lib/lock-order.ts'
import { applyReceipts, type ReceiptRow, type SettleRow, settleAttempts } from './hot-store.ts'

export type Settle = {
  /** Stores the settlement of an attempt. Returns the message's first answer, or null if another outcome was faster. */
  attempt(row: SettleRow): Promise<{ answer: string | null } | null>
  /** Stores a receipt. Returns whether it changed a message. */
  receipt(row: ReceiptRow): Promise<boolean>
  idle(): Promise<void>
}

export type SettleDeps = {
  db: Database
  clock: Clock
  /** True while stopping: then a flush that fails is not retried, and another node finds the rows. */
  stopping(): boolean
  observe?(items: number, durationMs: number): void
}

type Work = { kind: 'attempt'; row: SettleRow } | { kind: 'receipt'; row: ReceiptRow }
type SettleResult = { answer: string | null } | null
/** The result of one item of a flush. */
type Result = { settled: SettleResult } | { moved: boolean } | Failure

const MAX_ITEMS = 256

/**
 * Stores outcomes and receipts, many in one transaction. Both are in one queue, so that within a
 * process a receipt never overtakes the response to its own submit; a receipt that arrives
 * before that response is parked by the database.
 */
export function createSettle(deps: SettleDeps): Settle {
  const { db, clock } = deps
  const batcher: Batcher<Work, Result> = createBatcher({
    flush,
    maxItems: MAX_ITEMS,
    conflictKey: messageKeyOf,
  })

  async function flush(work: Work[]): Promise<Result[]> {
    const startedMs = clock.monotonic()
    // The same time for all tries of this flush: a repeat recognises by it what the first one did.
    const nowMs = clock.now()
    const settled = await runSorted(attemptsOf(work), byAccountAndId, rows =>
      // The database refuses a value, or a provider's id twice in one flush.
      writeOrSplit(rows, some =>
        writeWithRetry(async repeated =>
          (await settleAttempts(db, nowMs, some, repeated)).map(settled => ({ settled })),
        ),
      ),
    )
    const moved = await runSorted(receiptsOf(work), byProviderId, rows =>
      writeOrSplit(rows, some =>
        writeWithRetry(async () => (await applyReceipts(db, nowMs, some)).map(moved => ({ moved }))),
      ),
    )
    deps.observe?.(work.length, clock.monotonic() - startedMs)
    let [attempt, receipt] = [0, 0]
    return work.map(({ kind }) => (kind === 'attempt' ? settled[attempt++]! : moved[receipt++]!))
  }

  /** Retries while the database is unavailable, so that no outcome is lost. */
  function writeWithRetry<T>(write: Repeatable<T>): Promise<T> {
    return retryWhileUnavailable(clock, () => !deps.stopping(), write)
  }

  return {
    async attempt(row) {
      const result = await batcher.add({ kind: 'attempt', row })
      if ('error' in result) throw result.error
      return (result as { settled: SettleResult }).settled
    },
    async receipt(row) {
      const result = await batcher.add({ kind: 'receipt', row })
      if ('error' in result) throw result.error
      return (result as { moved: boolean }).moved
    },
    idle: () => batcher.idle(),
  }
}

/** Two items for the same message never share a statement, which would apply only one of them. */
function messageKeyOf(work: Work): string {
  return work.kind === 'attempt' ? work.row.id : `${work.row.connectionId}:${work.row.providerId}`
}

function attemptsOf(work: readonly Work[]): SettleRow[] {
  return work.filter(each => each.kind === 'attempt').map(({ row }) => row)
}

function receiptsOf(work: readonly Work[]): ReceiptRow[] {
  return work.filter(each => each.kind === 'receipt').map(({ row }) => row)
}

/** The order of receipts: a receipt identifies its message by the provider's id. */
function byProviderId(a: ReceiptRow, b: ReceiptRow): number {
  return compare(a.connectionId, b.connectionId) || compare(a.providerId, b.providerId)
}

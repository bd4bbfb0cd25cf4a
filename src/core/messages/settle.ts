import { type Batcher, createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { applyReceipts, type ReceiptRow, type SettleRow, settleAttempts } from './hot-store.ts'

export type Settle = {
  /** What an attempt came to. Its first answer, or null where another word was faster. */
  attempt(row: SettleRow): Promise<{ answer: string | null } | null>
  /** What a provider reports later. Resolves once stored; whether it moved a message. */
  receipt(row: ReceiptRow): Promise<boolean>
  idle(): Promise<void>
}

export type SettleDeps = {
  db: Database
  clock: Clock
  node(): number
  /** True while stopping: then a flush that fails is given up, and the next node finds the rows. */
  stopping(): boolean
  observe?(items: number, durationMs: number): void
}

type Work = { kind: 'attempt'; row: SettleRow } | { kind: 'receipt'; row: ReceiptRow }
type Result = { answer: string | null } | null | boolean

const MAX_ITEMS = 256
const RETRY_EVERY_MS = 200

/**
 * Writes down outcomes and receipts, many in one transaction. Both stand in one
 * line, so that a receipt never overtakes the answer to its own submit within a
 * process; one that arrives before is parked by the database.
 */
export function createSettle(deps: SettleDeps): Settle {
  const { db, clock } = deps
  const batcher: Batcher<Work, Result> = createBatcher({ flush, maxItems: MAX_ITEMS, conflict: sameMessage })

  async function flush(work: Work[]): Promise<Result[]> {
    const startedMs = clock.monotonic()
    const results: Result[] = new Array(work.length)
    await place(work, results, 'attempt', rows =>
      settleAttempts(db, deps.node(), clock.now(), rows as SettleRow[]),
    )
    await place(work, results, 'receipt', rows => applyReceipts(db, clock.now(), rows as ReceiptRow[]))
    deps.observe?.(work.length, clock.monotonic() - startedMs)
    return results
  }

  /** Runs one kind's share of a flush, sorted as the functions want it, and puts the results in their places. */
  async function place(
    work: readonly Work[],
    results: Result[],
    kind: Work['kind'],
    run: (rows: unknown[]) => Promise<readonly Result[]>,
  ): Promise<void> {
    const share = work.map((each, at) => ({ each, at })).filter(({ each }) => each.kind === kind)
    if (share.length === 0) return
    share.sort((a, b) => (lockOrder(a.each) < lockOrder(b.each) ? -1 : 1))
    const found = await patiently(() => run(share.map(({ each }) => each.row)))
    share.forEach(({ at }, position) => {
      results[at] = found[position]!
    })
  }

  /** A provider's word is not lost because the database is away: it is written as soon as it is back. */
  async function patiently<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || deps.stopping()) throw error
        await new Promise<void>(resolve => clock.after(RETRY_EVERY_MS, resolve))
      }
    }
  }

  return {
    attempt: row => batcher.add({ kind: 'attempt', row }) as Promise<{ answer: string | null } | null>,
    receipt: row => batcher.add({ kind: 'receipt', row }) as Promise<boolean>,
    idle: () => batcher.idle(),
  }
}

/** Two words on one message never share a statement, which would apply only one of them. */
function sameMessage(work: Work): string {
  return work.kind === 'attempt' ? work.row.id : `${work.row.connectionId}:${work.row.providerId}`
}

function lockOrder(work: Work): string {
  return work.kind === 'attempt'
    ? work.row.accountId + work.row.id
    : work.row.connectionId + work.row.providerId
}

import { type Batcher, createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable } from '../../infra/db.ts'
import { patiently } from '../../infra/patiently.ts'
import type { Clock } from '../../lib/clock.ts'
import { byAccountAndId, compare, inOrder } from '../../lib/lock-order.ts'
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
  /** True while stopping: then a flush that fails is given up, and the next node finds the rows. */
  stopping(): boolean
  observe?(items: number, durationMs: number): void
}

type Work = { kind: 'attempt'; row: SettleRow } | { kind: 'receipt'; row: ReceiptRow }
type SettleResult = { answer: string | null } | null
/** What became of one piece of work; its failure is its own. */
type Result = { told: SettleResult } | { moved: boolean } | { error: unknown }
/** Writes a share of a flush down; `repeated` says that it may have been before. */
type Write<Row> = (rows: Row[], repeated: boolean) => Promise<readonly Result[]>

const MAX_ITEMS = 256

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
    // One time for all tries of this flush: by it a repeat recognises what the first one did.
    const nowMs = clock.now()
    const told = await inOrder(attemptsOf(work), byAccountAndId, rows =>
      writeOrSplit(rows, async (some, repeated) =>
        (await settleAttempts(db, nowMs, some, repeated)).map(told => ({ told })),
      ),
    )
    const moved = await inOrder(receiptsOf(work), byProviderId, rows =>
      writeOrSplit(rows, async some => (await applyReceipts(db, nowMs, some)).map(moved => ({ moved }))),
    )
    deps.observe?.(work.length, clock.monotonic() - startedMs)
    let [attempt, receipt] = [0, 0]
    return work.map(({ kind }) => (kind === 'attempt' ? told[attempt++]! : moved[receipt++]!))
  }

  /** What the database refuses (a value, or a provider's id given twice in one flush) is written by itself. */
  async function writeOrSplit<Row>(rows: Row[], write: Write<Row>): Promise<readonly Result[]> {
    try {
      return await writePatiently(rows, write)
    } catch (error) {
      if (rows.length === 1 || error instanceof DatabaseUnavailable) return rows.map(() => ({ error }))
      const half = rows.length >> 1
      return [
        ...(await writeOrSplit(rows.slice(0, half), write)),
        ...(await writeOrSplit(rows.slice(half), write)),
      ]
    }
  }

  /** A provider's word is not lost because the database is away: it is written as soon as it is back. */
  function writePatiently<Row>(rows: Row[], write: Write<Row>): Promise<readonly Result[]> {
    return patiently(
      clock,
      () => !deps.stopping(),
      repeated => write(rows, repeated),
    )
  }

  return {
    async attempt(row) {
      const result = await batcher.add({ kind: 'attempt', row })
      if ('error' in result) throw result.error
      return (result as { told: SettleResult }).told
    },
    async receipt(row) {
      const result = await batcher.add({ kind: 'receipt', row })
      if ('error' in result) throw result.error
      return (result as { moved: boolean }).moved
    },
    idle: () => batcher.idle(),
  }
}

/** Two words on one message never share a statement, which would apply only one of them. */
function sameMessage(work: Work): string {
  return work.kind === 'attempt' ? work.row.id : `${work.row.connectionId}:${work.row.providerId}`
}

function attemptsOf(work: readonly Work[]): SettleRow[] {
  return work.filter(each => each.kind === 'attempt').map(({ row }) => row)
}

function receiptsOf(work: readonly Work[]): ReceiptRow[] {
  return work.filter(each => each.kind === 'receipt').map(({ row }) => row)
}

/** A receipt knows its message by what its provider calls it. */
function byProviderId(a: ReceiptRow, b: ReceiptRow): number {
  return compare(a.connectionId, b.connectionId) || compare(a.providerId, b.providerId)
}

import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'

/**
 * Makes receipts and verdicts due that are planned, or claimed, for after `lastMs`: a clock that was far ahead has done it.
 * Returns how many.
 */
export async function recallPlanned(db: Db, nowMs: number, lastMs: number): Promise<number> {
  const values = [toIso(nowMs), toIso(lastMs)]
  const receipts = await db.query({
    name: 'sandbox_recall_receipts',
    text: `update sandbox_receipts
      set due_at = least(due_at, $1), claimed_until = case when claimed_until <= $2 then claimed_until end
      where due_at > $2 or claimed_until > $2`,
    values,
  })
  const verdicts = await db.query({
    name: 'sandbox_recall_verdicts',
    text: `update sandbox_templates
      set decided_at = least(decided_at, $1), claimed_until = case when claimed_until <= $2 then claimed_until end
      where not told and (decided_at > $2 or claimed_until > $2)`,
    values,
  })
  return (receipts.rowCount ?? 0) + (verdicts.rowCount ?? 0)
}

import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'

/**
 * Brings pools back to this month, with what they have used, for which a clock that was far ahead began a later one: they would
 * not be reset before its end. A month that begins within a day stays: clocks of nodes differ by less. In the order of
 * locks.
 */
export async function endFutureMonths(db: Db, nowMs: number): Promise<void> {
  await db.query({
    name: 'pools_of_future_months',
    text: `with ahead as (
        select account_id, id from pools where resets_at > next_reset($1::timestamptz + interval '1 day')
         order by account_id, id for update
      )
      update pools p set resets_at = next_reset($1)
        from ahead a where p.account_id = a.account_id and p.id = a.id`,
    values: [toIso(nowMs)],
  })
}

import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

/** Sets the threshold, in micros; 0 removes it. After each change of it, a low balance is reported again. */
export async function setThreshold(db: Db, accountId: AccountId, threshold: number): Promise<void> {
  if (threshold === 0) {
    await db.query({
      name: 'low_balance_remove',
      text: 'delete from low_balances where account_id = $1',
      values: [toUuid(accountId)],
    })
    return
  }
  await db.query({
    name: 'low_balance_put',
    text: `insert into low_balances (account_id, threshold) values ($1, $2)
      on conflict (account_id) do update set threshold = excluded.threshold, low = false`,
    values: [toUuid(accountId), threshold],
  })
}

/**
 * Stores a `wallet.low` event for each account whose balance fell below its threshold since the last call,
 * and notes accounts that are above it again. One statement, so that of several nodes only one
 * reports a change, and no noted change goes unreported. It reads only accounts with
 * a threshold, and so costs sending nothing.
 */
export async function storeLowBalanceEvents(db: Db, nowMs: number): Promise<void> {
  await db.query({
    name: 'low_balances_tell',
    text: `with crossed as (
        update low_balances l set low = not l.low
          from wallets w
         where w.account_id = l.account_id and l.low <> (w.balance < l.threshold)
        returning l.account_id, l.low, l.threshold, w.balance, w.held
      )
      insert into events (account_id, id, type, at, data)
      select c.account_id, uuid_at($1), 'wallet.low', $1, jsonb_build_object(
               'balance', c.balance / 1000000.0, 'held', c.held / 1000000.0,
               'lowBalance', c.threshold / 1000000.0, 'currency', a.currency)
        from crossed c join accounts a on a.id = c.account_id
       where c.low and 'wallet.low' = any (a.event_types)`,
    values: [toIso(nowMs)],
  })
}

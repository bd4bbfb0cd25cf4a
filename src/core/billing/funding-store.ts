import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

/**
 * SQL: whether a pool `p` of the plan pays for a message on the channel now. As in `fund_one_by_one`, which first
 * resets a pool whose month is over.
 */
export function poolPays(channel: string, now: string): string {
  return `${channel} = any (p.channels) and (p.used < p.included or (p.resets_at <= ${now} and p.included > 0))`
}

/**
 * What would pay for a message now, in the same order as when it is accepted: a pool with the
 * channel and something left, else the wallet; null when neither can. `amount` in micros.
 */
export async function selectFunding(
  db: Db,
  accountId: AccountId,
  channel: Channel,
  amount: number,
  nowMs: number,
): Promise<'pool' | 'wallet' | null> {
  const { rows } = await db.query<{ pool: boolean; wallet: boolean }>({
    name: 'select_funding',
    text: `select exists (select 1 from pools p
             where p.account_id = $1 and ${poolPays('$2', '$4')}) as pool,
             w.balance >= $3 as wallet
           from wallets w where w.account_id = $1`,
    values: [toUuid(accountId), channel, amount, toIso(nowMs)],
  })
  const row = rows[0]
  if (row?.pool) return 'pool'
  return row?.wallet ? 'wallet' : null
}

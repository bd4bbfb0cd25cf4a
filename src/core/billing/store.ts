import type { Db } from '../../infra/db.ts'
import { type AccountId, type Id, toUuid } from '../../lib/ids.ts'

/** In micros. */
export type Wallet = { balance: number; held: number; captured: number; credited: number; currency: string }

/** With the threshold of `wallet.low`, 0 where there is none. */
export async function selectWallet(
  db: Db,
  accountId: AccountId,
): Promise<(Wallet & { lowBalance: number }) | null> {
  const { rows } = await db.query<Wallet & { lowBalance: number }>({
    name: 'wallet_by_account',
    text: `select w.balance, w.held, w.captured, w.credited, a.currency, coalesce(l.threshold, 0) as "lowBalance"
      from wallets w join accounts a on a.id = w.account_id
      left join low_balances l on l.account_id = w.account_id where w.account_id = $1`,
    values: [toUuid(accountId)],
  })
  return rows[0] ?? null
}

export async function insertWallet(db: Db, accountId: AccountId): Promise<void> {
  await db.query({
    name: 'wallet_insert',
    text: 'insert into wallets (account_id) values ($1)',
    values: [toUuid(accountId)],
  })
}

export type Credit = { id: Id<'crd'>; accountId: AccountId; amount: number; note: string | null }

/**
 * The ledger row and the wallet in one statement: neither is ever there without
 * the other. Null where there is no such wallet, or it would exceed `mostMicros`.
 */
export async function creditWallet(db: Db, credit: Credit, mostMicros: number): Promise<Wallet | null> {
  const { rows } = await db.query<Wallet>({
    name: 'wallet_credit',
    text: `with wallet as (
        update wallets set balance = balance + $3, credited = credited + $3
         where account_id = $1 and credited + $3 <= $5
        returning account_id, balance, held, captured, credited
      ), entry as (
        insert into ledger (account_id, id, kind, amount, note)
        select account_id, $2, 'credit', $3, $4 from wallet
      )
      select w.balance, w.held, w.captured, w.credited, a.currency
        from wallet w join accounts a on a.id = w.account_id`,
    values: [toUuid(credit.accountId), toUuid(credit.id), credit.amount, credit.note, mostMicros],
  })
  return rows[0] ?? null
}

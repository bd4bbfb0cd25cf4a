import type { Db } from '../../infra/db.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'

/** Amounts in micros. */
export type Wallet = { balance: number; held: number; captured: number; credited: number; currency: string }

/** Null if there is no such account. `lowBalance`: the threshold of `wallet.low` in micros, 0 for none. */
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

export type Credit = {
  id: Id<'crd'>
  accountId: AccountId
  /** Micros. */
  amount: number
  note: string | null
  /** Idempotency key; null without one. */
  key: string | null
}

/**
 * Adds the ledger row and credits the wallet in one statement, so that both happen or
 * neither. Null if there is no such wallet, or its total credits would exceed `mostMicros`;
 * rejects with an error that `isCreditKeyTaken` recognizes if the key was used before. Locks the account's row,
 * since its currency may change until the first credit.
 */
export async function creditWallet(db: Db, credit: Credit, mostMicros: number): Promise<Wallet | null> {
  const { rows } = await db.query<Wallet>({
    name: 'wallet_credit',
    text: `with account as (
        select id, currency from accounts where id = $1 for share
      ), wallet as (
        update wallets w set balance = w.balance + $3, credited = w.credited + $3
          from account a
         where w.account_id = a.id and w.credited + $3 <= $5
        returning w.account_id, w.balance, w.held, w.captured, w.credited, a.currency
      ), entry as (
        insert into ledger (account_id, id, kind, amount, note, idempotency_key)
        select account_id, $2, 'credit', $3, $4, $6 from wallet
      )
      select balance, held, captured, credited, currency from wallet`,
    values: [toUuid(credit.accountId), toUuid(credit.id), credit.amount, credit.note, mostMicros, credit.key],
  })
  return rows[0] ?? null
}

/** Whether an earlier credit has the idempotency key; the failed one stored nothing. */
export function isCreditKeyTaken(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === 'ledger_key'
}

/** The credit with an idempotency key; null if the key is unused. */
export async function selectCredit(db: Db, accountId: AccountId, key: string): Promise<Credit | null> {
  const { rows } = await db.query<{ id: string; amount: number; note: string | null }>({
    name: 'credit_by_key',
    text: 'select id, amount, note from ledger where account_id = $1 and idempotency_key = $2',
    values: [toUuid(accountId), key],
  })
  const row = rows[0]
  return row ? { ...row, id: fromUuid('crd', row.id), accountId, key } : null
}

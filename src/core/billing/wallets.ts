import type { CreditCreate } from '../../contract/admin.ts'
import { readAmount } from '../../contract/amount.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { createFaults } from '../../contract/faults.ts'
import type { LedgerEntry, WalletUpdate, WalletView, WalletWithThreshold } from '../../contract/wallet.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type Ids, timeOf } from '../../lib/ids.ts'
import { fromMicros, MAX_MICROS } from '../../lib/money.ts'
import { readAccountId } from '../accounts/admin.ts'
import { putThreshold } from './low-balance-store.ts'
import { creditWallet, insertWallet, selectWallet, type Wallet } from './store.ts'

export type Credited = WalletView & { entry: LedgerEntry }

export type Wallets = {
  read(accountId: AccountId): Promise<WalletWithThreshold>
  /** NOT_FOUND for no such account, VALIDATION_ERROR for the amount. */
  update(accountId: string, input: WalletUpdate): Promise<WalletWithThreshold>
  /** The wallet after the credit. NOT_FOUND for no such account, VALIDATION_ERROR for the amount. */
  credit(accountId: string, input: CreditCreate): Promise<Credited>
  /** For a new account, within its transaction. */
  open(db: Db, accountId: AccountId, balanceMicros: number): Promise<void>
}

export function createWallets({ db, ids }: { db: Db; ids: Ids }): Wallets {
  async function read(accountId: AccountId): Promise<WalletWithThreshold> {
    const wallet = await selectWallet(db, accountId)
    if (!wallet) throw new Problem('NOT_FOUND', 'Account not found')
    return { ...viewWallet(wallet), lowBalance: fromMicros(wallet.lowBalance) }
  }

  async function update(id: string, { lowBalance }: WalletUpdate): Promise<WalletWithThreshold> {
    const accountId = readAccountId(id)
    const faults = createFaults()
    const threshold = lowBalance === undefined ? null : readAmount(lowBalance, 'lowBalance', 0, faults)
    faults.check()
    await read(accountId)
    if (threshold !== null) await putThreshold(db, accountId, threshold)
    return read(accountId)
  }

  async function credit(id: string, input: CreditCreate): Promise<Credited> {
    const accountId = readAccountId(id)
    const faults = createFaults()
    const amount = readAmount(input.amount, 'amount', 1, faults)
    faults.check()
    const row = { id: ids.next('crd'), accountId, amount, note: input.note ?? null }
    const wallet = await creditWallet(db, row, MAX_MICROS)
    if (!wallet) {
      await read(accountId)
      throw invalid('amount', `would take the wallet beyond ${fromMicros(MAX_MICROS)}`)
    }
    return {
      ...viewWallet(wallet),
      entry: {
        id: row.id,
        type: 'credit',
        amount: fromMicros(amount),
        currency: wallet.currency,
        messageId: null,
        note: row.note,
        createdAt: toIso(timeOf(row.id)),
      },
    }
  }

  async function open(tx: Db, accountId: AccountId, balanceMicros: number): Promise<void> {
    await insertWallet(tx, accountId)
    if (balanceMicros === 0) return
    const row = { id: ids.next('crd'), accountId, amount: balanceMicros, note: 'Opening balance' }
    await creditWallet(tx, row, MAX_MICROS)
  }

  return { read, update, credit, open }
}

function viewWallet(wallet: Wallet): WalletView {
  return {
    balance: fromMicros(wallet.balance),
    held: fromMicros(wallet.held),
    captured: fromMicros(wallet.captured),
    credited: fromMicros(wallet.credited),
    currency: wallet.currency,
  }
}

import type { CreditCreate } from '../../contract/admin.ts'
import { readAmount } from '../../contract/amount.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { createFaults } from '../../contract/faults.ts'
import { checkIdempotencyKey } from '../../contract/idempotency-key.ts'
import type { LedgerEntry, WalletUpdate, WalletView, WalletWithThreshold } from '../../contract/wallet.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type Ids, timeOf } from '../../lib/ids.ts'
import { fromMicros, MAX_MICROS } from '../../lib/money.ts'
import { readAccountId } from '../accounts/admin.ts'
import { setThreshold } from './low-balance-store.ts'
import {
  type Credit,
  creditWallet,
  insertWallet,
  isCreditKeyTaken,
  selectCredit,
  selectWallet,
  type Wallet,
} from './store.ts'

export type Credited = WalletView & { entry: LedgerEntry }
/** `replayed`: an earlier request with the key made the credit; nothing was credited now. */
export type CreditResult = { credited: Credited; replayed: boolean }

export type Wallets = {
  read(accountId: AccountId): Promise<WalletWithThreshold>
  /** NOT_FOUND if there is no such account, VALIDATION_ERROR for the amount. */
  update(accountId: string, input: WalletUpdate): Promise<WalletWithThreshold>
  /**
   * Credits the wallet, once per idempotency key if there is one. NOT_FOUND if there is no such account,
   * VALIDATION_ERROR for the amount or the key, IDEMPOTENCY_KEY_CONFLICT if the key was used for another credit.
   */
  credit(accountId: string, input: CreditCreate, key?: string): Promise<CreditResult>
  /** Opens the wallet of a new account, within the caller's transaction. */
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
    if (threshold !== null) await setThreshold(db, accountId, threshold)
    return read(accountId)
  }

  async function credit(id: string, input: CreditCreate, key?: string): Promise<CreditResult> {
    const accountId = readAccountId(id)
    const faults = createFaults()
    const amount = readAmount(input.amount, 'amount', 1, faults)
    checkIdempotencyKey(key, faults)
    faults.check()
    const row = { id: ids.next('crd'), accountId, amount, note: input.note ?? null, key: key ?? null }
    return (await replay(row)) ?? (await creditOnce(row))
  }

  async function creditOnce(row: Credit): Promise<CreditResult> {
    try {
      const wallet = await creditWallet(db, row, MAX_MICROS)
      if (wallet) return { credited: viewCredited(wallet, row), replayed: false }
    } catch (error) {
      const replayed = isCreditKeyTaken(error) ? await replay(row) : null
      if (replayed) return replayed
      throw error
    }
    await read(row.accountId)
    throw invalid('amount', `would raise the total credits of the wallet above ${fromMicros(MAX_MICROS)}`)
  }

  /** The credit that was made with the key before, and the wallet as it is now; null if there is none. */
  async function replay({ accountId, key, amount, note }: Credit): Promise<CreditResult | null> {
    const before = key === null ? null : await selectCredit(db, accountId, key)
    if (!before) return null
    if (before.amount !== amount || before.note !== note) throw new Problem('IDEMPOTENCY_KEY_CONFLICT')
    return { credited: viewCredited((await selectWallet(db, accountId))!, before), replayed: true }
  }

  async function open(tx: Db, accountId: AccountId, balanceMicros: number): Promise<void> {
    await insertWallet(tx, accountId)
    if (balanceMicros === 0) return
    const row = { id: ids.next('crd'), accountId, amount: balanceMicros, note: 'Opening balance', key: null }
    await creditWallet(tx, row, MAX_MICROS)
  }

  return { read, update, credit, open }
}

function viewCredited(wallet: Wallet, { id, amount, note }: Credit): Credited {
  return {
    ...viewWallet(wallet),
    entry: {
      id,
      type: 'credit',
      amount: fromMicros(amount),
      currency: wallet.currency,
      messageId: null,
      note,
      createdAt: toIso(timeOf(id)),
    },
  }
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

import type { LedgerEntry } from '../../src/contract/wallet.ts'
import { toMicros } from '../../src/lib/money.ts'

/** In micros. */
export type Totals = { balance: number; held: number; captured: number; credited: number }

/** The effect of each type of entry on the four sums of a wallet. */
const EFFECTS: Record<LedgerEntry['type'], Totals> = {
  credit: { balance: 1, held: 0, captured: 0, credited: 1 },
  debit: { balance: -1, held: 0, captured: 0, credited: -1 },
  refund: { balance: 1, held: 0, captured: -1, credited: 0 },
  hold: { balance: -1, held: 1, captured: 0, credited: 0 },
  capture: { balance: 0, held: -1, captured: 1, credited: 0 },
  release: { balance: 1, held: -1, captured: 0, credited: 0 },
}

/** The sums of these entries; with all entries of an account, exactly its wallet. */
export function ledgerTotals(entries: readonly LedgerEntry[]): Totals {
  const totals: Totals = { balance: 0, held: 0, captured: 0, credited: 0 }
  for (const { type, amount } of entries) {
    const micros = toMicros(amount)
    if (micros === null || micros < 0) throw new Error(`no amount of money: ${amount}`)
    for (const sum of Object.keys(totals) as (keyof Totals)[]) totals[sum] += EFFECTS[type][sum] * micros
  }
  return totals
}

import { type Static, Type } from 'typebox'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

/** Invariant: balance + held + captured = credited. */
export const WalletView = Type.Object({
  balance: Type.Number({ description: 'Available to spend' }),
  held: Type.Number({ description: 'Held for messages that are not settled' }),
  captured: Type.Number({ description: 'Charged for messages that a provider accepted' }),
  credited: Type.Number({ description: 'The sum of all credits, less debits' }),
  currency: Type.String(),
})
export type WalletView = Static<typeof WalletView>

const LowBalance = Type.Number({
  description: 'The event `wallet.low` is sent when the balance falls below this amount; 0 for never',
})
export const WalletWithThreshold = Type.Object({ ...WalletView.properties, lowBalance: LowBalance })
export type WalletWithThreshold = Static<typeof WalletWithThreshold>

export const WalletUpdate = Type.Object({ lowBalance: Type.Optional(LowBalance) })
export type WalletUpdate = Static<typeof WalletUpdate>

export const LEDGER_TYPES = ['credit', 'debit', 'refund', 'hold', 'capture', 'release'] as const
export type LedgerType = (typeof LEDGER_TYPES)[number]

/**
 * One ledger entry. `hold` moves balance to held, `capture` held to captured, `release` held back to balance,
 * `refund` captured back to balance; `credit` and `debit` change what was credited.
 */
export const LedgerEntry = Type.Object({
  id: Type.String({ description: 'The `usageId` of a send (`usg_…`), or the id of a credit (`crd_…`)' }),
  type: Type.Enum(LEDGER_TYPES),
  amount: Type.Number({ description: 'Never negative; `type` gives the direction' }),
  currency: Type.String(),
  messageId: nullable(Type.String()),
  note: nullable(Type.String()),
  createdAt: IsoTime,
})
export type LedgerEntry = Static<typeof LedgerEntry>

/** The origin of an entry: a message, or the operator. */
export const LEDGER_SOURCES = ['messages', 'credits'] as const
export type LedgerSource = (typeof LEDGER_SOURCES)[number]

export const LedgerQuery = pageQuery({
  source: Type.Optional(
    oneOf(LEDGER_SOURCES, { description: '`credits`: credits, debits and refunds by the operator' }),
  ),
  createdAfter: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601' })),
  createdBefore: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601' })),
})
export type LedgerQuery = Static<typeof LedgerQuery>

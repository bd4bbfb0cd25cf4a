import type { LedgerSource, LedgerType } from '../../contract/wallet.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, FIRST_UUID, LAST_UUID, toUuid } from '../../lib/ids.ts'

/**
 * What moved money, as one item of the history: either a row of `ledger` (with its `kind`), or a
 * message, whose movements follow from its state of payment (`money`); `kind` is null then.
 * Amounts in micros, times in ms since the epoch.
 */
export type Usage = {
  uuid: string
  amount: number
  kind: Extract<LedgerType, 'credit' | 'debit' | 'refund'> | null
  note: string | null
  messageUuid: string | null
  money: 'held' | 'captured' | 'released' | null
  moneyAtMs: number | null
  /** When a provider accepted the message and so the hold was captured: a later release is a refund. */
  sentAtMs: number | null
  funding: 'wallet' | 'pool' | null
  /** The holds for earlier channels of a message that failed over to another one; null where there were none. */
  pastHolds: PastHold[] | null
}

/** A part of the history: ids from `from` to `upTo`, both inclusive; null for no bound, and for all sources. */
export type LedgerSpan = { from: string | null; upTo: string | null; source: LedgerSource | null }

/** `until` is ISO 8601. */
export type PastHold = { amount: number; funding: 'wallet' | 'pool'; until: string }

/**
 * The newest usages of a span, at most `limit`. Both tables are read from the end of
 * a range of their primary keys, so the cost does not grow with the history. Messages
 * that moved no money (paid by pools, or of a test key) are skipped: one call looks at no
 * more than `maxScanned` messages. Each of the others has at least one movement.
 */
export async function selectUsages(
  db: Db,
  accountId: AccountId,
  { from, upTo, source }: LedgerSpan,
  limit: number,
  maxScanned: number,
): Promise<Usage[]> {
  const { rows } = await db.query<Usage>({
    name: 'ledger_usages',
    text: `select * from (
        (select u.id as uuid, u.amount, null as kind, null as note, u.id as "messageUuid", u.money,
                (extract(epoch from u.money_at) * 1000)::bigint as "moneyAtMs",
                (extract(epoch from u.sent_at) * 1000)::bigint as "sentAtMs", u.funding, u.past_holds as "pastHolds"
           from (select id, amount, funding, money, money_at, sent_at, past_holds from messages
                  where account_id = $1 and id <= $2 and id >= $5 order by id desc limit $4) u
          where u.funding = 'wallet' or u.past_holds @> '[{"funding": "wallet"}]' order by u.id desc limit $3)
        union all
        (select l.id, l.amount, l.kind, l.note, l.message_id, null, null, null, null, null
           from ledger l where l.account_id = $1 and l.id <= $2 and l.id >= $5 order by l.id desc limit $6)
      ) usages order by uuid desc limit $3`,
    values: [
      toUuid(accountId),
      upTo ?? LAST_UUID,
      limit,
      source === 'credits' ? 0 : maxScanned,
      from ?? FIRST_UUID,
      source === 'messages' ? 0 : limit,
    ],
  })
  return rows
}

/** The id of the first message that `selectUsages` did not look at; null when it looked at all. */
export async function selectHorizon(
  db: Db,
  accountId: AccountId,
  { from, upTo, source }: LedgerSpan,
  maxScanned: number,
): Promise<string | null> {
  if (source === 'credits') return null
  const { rows } = await db.query<{ id: string }>({
    name: 'ledger_horizon',
    text: `select id from messages where account_id = $1 and id <= $2 and id >= $4
      order by id desc offset $3 limit 1`,
    values: [toUuid(accountId), upTo ?? LAST_UUID, maxScanned, from ?? FIRST_UUID],
  })
  return rows[0]?.id ?? null
}

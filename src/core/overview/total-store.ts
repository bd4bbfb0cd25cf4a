import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

export type Counts = {
  sent: number
  delivered: number
  undelivered: number
  failed: number
  unknown: number
  cancelled: number
  /** Micros. */
  cost: number
}

/** Counts of one hour or day; `channel` is null for the sum of all channels. */
export type TotalRow = Counts & { atMs: number; channel: Channel | null }

export type TotalsQuery = {
  accountId: AccountId
  live: boolean
  fromMs: number
  /** Exclusive. */
  toMs: number
  interval: 'hour' | 'day'
  byChannel: boolean
}

/** Counts by time, the earliest first. Includes deltas that are not folded into the totals yet. */
export async function sumTotals(db: Db, of: TotalsQuery): Promise<TotalRow[]> {
  const counts = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'cancelled', 'cost']
  const { rows } = await db.query<TotalRow>({
    name: `message_totals_${of.interval}${of.byChannel ? '_channel' : ''}`,
    text: `select floor(extract(epoch from date_trunc('${of.interval}', t.hour, 'UTC')) * 1000)::bigint as "atMs",
        ${of.byChannel ? 't.channel' : 'null::text'} as channel,
        ${counts.map(name => `sum(t.${name})::bigint as ${name}`).join(', ')}
      from (select hour, channel, ${counts.join(', ')} from message_totals
             where account_id = $1 and live = $2 and hour >= $3 and hour < $4
            union all
            select hour, channel, ${counts.join(', ')} from message_deltas
             where account_id = $1 and live = $2 and hour >= $3 and hour < $4) t
      group by 1, 2 order by 1, 2`,
    values: [toUuid(of.accountId), of.live, toIso(of.fromMs), toIso(of.toMs)],
  })
  return rows
}

/** Folds up to `limit` deltas, which the hot path stores, into the totals; returns how many. */
export async function foldDeltas(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'fold_message_deltas',
    text: 'select fold_message_deltas($1) as n',
    values: [limit],
  })
  return rows[0]!.n
}

export type Waiting = { waiting: number; waitingMore: boolean; unknown: number; unknownMore: boolean }

/**
 * How many of the account's messages are waiting and how many are unknown, each counted up to `most`, and whether there
 * may be more. Looks at the newest `maxScanned` in the outbox, live and test together: whether a message is live is only in
 * its own row, so without this limit a million live ones would be read to find a few test ones.
 */
export async function countWaiting(
  db: Db,
  accountId: AccountId,
  live: boolean,
  most: number,
  maxScanned: number,
): Promise<Waiting> {
  const count = (found: string) =>
    `(select count(*) from (
        select 1 from (${found} limit $4) o
          -- Each by its own key: where many wait, the planner would rather read all messages there are.
          cross join lateral (select x.live from messages x where x.account_id = o.account_id and x.id = o.message_id limit 1) m
         where m.live = $2 limit $3 + 1) w)::integer`
  const isMore = (found: string, than: string | number) =>
    `(select count(*) from (${found} limit ${than} + 1) f) > ${than}`
  const waiting = `select account_id, message_id from outbox
                    where account_id = $1 and (owner is not null or not begun) order by message_id desc`
  // Unknown messages of all accounts are few and have an index; there is none for those of one account.
  const everyUnknown =
    'select account_id, message_id from outbox where owner is null and begun order by message_id desc'
  const unknown = `select u.account_id, u.message_id from (${everyUnknown} limit ${MAX_UNKNOWN_SCANNED}) u
                    where u.account_id = $1`
  const { rows } = await db.query<Waiting>({
    name: 'account_waiting',
    text: `select least(c.waiting, $3) as waiting,
        c.waiting > $3 or ${isMore(waiting, '$4')} as "waitingMore",
        least(c.unknown, $3) as unknown,
        c.unknown > $3 or ${isMore(unknown, '$4')} or ${isMore(everyUnknown, MAX_UNKNOWN_SCANNED)} as "unknownMore"
      from (select ${count(waiting)} as waiting, ${count(unknown)} as unknown offset 0) c`,
    values: [toUuid(accountId), live, most, maxScanned],
  })
  return rows[0]!
}

/** Unknown messages of all accounts that are looked at: about 50 ms. */
const MAX_UNKNOWN_SCANNED = 100_000

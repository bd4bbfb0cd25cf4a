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

/** What happened within one hour or day; `channel` is null where all are taken together. */
export type TotalRow = Counts & { atMs: number; channel: Channel | null }

export type TotalsOf = {
  accountId: AccountId
  live: boolean
  fromMs: number
  /** Not included. */
  toMs: number
  interval: 'hour' | 'day'
  byChannel: boolean
}

/** In order. What was not added up yet counts: totals and deltas are read as of one moment. */
export async function sumTotals(db: Db, of: TotalsOf): Promise<TotalRow[]> {
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

/** Adds what the hot path noted to the totals; how many notes there were. */
export async function foldDeltas(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'fold_message_deltas',
    text: 'select fold_message_deltas($1) as n',
    values: [limit],
  })
  return rows[0]!.n
}

/** Of the account, counted no further than `most`: what is still to leave, and what nobody knows. */
export async function countWaiting(
  db: Db,
  accountId: AccountId,
  live: boolean,
  most: number,
): Promise<{ waiting: number; unknown: number }> {
  const { rows } = await db.query<{ waiting: number; unknown: number }>({
    name: 'account_waiting',
    text: `select count(*) filter (where not unknown)::integer as waiting,
                  count(*) filter (where unknown)::integer as unknown
      from (select o.owner is null and o.begun as unknown
              from outbox o
             -- Each by its own key: where many wait, the planner would rather read all messages there are.
             cross join lateral (select x.live from messages x where x.account_id = o.account_id and x.id = o.message_id limit 1) m
             where o.account_id = $1 and m.live = $2 limit $3) w`,
    values: [toUuid(accountId), live, most],
  })
  return rows[0]!
}

import type { Db } from '../../infra/db.ts'
import { boolArray, int8Array, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

/** The counts that are totalled; cost in micros. */
export type Counts = {
  started: number
  sent: number
  delivered: number
  verified: number
  cost: number
}

/** A change of the totals of one day, channel and country; counts may be negative. */
export type TotalShare = Counts & {
  accountId: AccountId
  live: boolean
  atMs: number
  channel: string
  country: string | null
  blocked: number
}

export function emptyShare(
  of: Pick<TotalShare, 'accountId' | 'live' | 'atMs' | 'channel' | 'country'>,
): TotalShare {
  return { ...of, started: 0, sent: 0, delivered: 0, verified: 0, cost: 0, blocked: 0 }
}

/** Adds to the totals, in the order of their keys, so that concurrent calls never deadlock. */
export async function addTotals(db: Db, shares: readonly TotalShare[]): Promise<void> {
  if (shares.length === 0) return
  await db.query({
    name: 'verification_totals_add',
    text: `insert into verification_totals as t
             (account_id, live, day, channel, country, started, sent, delivered, verified, cost, blocked)
           select account_id, live, day::date, channel, country, sum(started), sum(sent), sum(delivered), sum(verified),
                  sum(cost), sum(blocked)
             from unnest($1::uuid[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
                    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
               as i (account_id, live, day, channel, country, started, sent, delivered, verified, cost, blocked)
            group by account_id, live, day, channel, country
            order by account_id, live, day, channel, country
           on conflict (account_id, live, day, channel, country) do update set
             started = t.started + excluded.started, sent = t.sent + excluded.sent,
             delivered = t.delivered + excluded.delivered, verified = t.verified + excluded.verified,
             cost = t.cost + excluded.cost, blocked = t.blocked + excluded.blocked`,
    values: [
      uuidArray(shares, share => share.accountId),
      boolArray(shares, share => share.live),
      textArray(shares, share => toIso(share.atMs).slice(0, 10)),
      textArray(shares, share => share.channel),
      textArray(shares, share => share.country ?? ''),
      ...(['started', 'sent', 'delivered', 'verified', 'cost', 'blocked'] as const).map(name =>
        int8Array(shares, share => share[name]),
      ),
    ],
  })
}

/** What was learned about channels fades to half in this time. */
export const LEARNING_HALF_LIFE_HOURS = 7 * 24

/** Counts the verifications that are due, at most `limit` rows of those accepted together, and learns from them; returns how many rows. */
export async function countDue(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ taken: number }>({
    name: 'count_due_verifications',
    text: 'select count_due_verifications($1,$2,$3) as taken',
    values: [toIso(nowMs), limit, LEARNING_HALF_LIFE_HOURS],
  })
  return rows[0]!.taken
}

/** Counts an account's newest verifications, due or not, among those that may still change. */
export async function countNewest(
  db: Db,
  accountId: AccountId,
  nowMs: number,
  sinceMs: number,
  limit: number,
): Promise<void> {
  await db.query({
    name: 'count_newest_verifications',
    text: `select count_verifications($1, array_agg(v.account_id), array_agg(v.id)) from (
             select account_id, id from verifications
              where account_id = $2 and id >= first_uuid_at($3) order by id desc limit $4) v
            having count(*) > 0`,
    values: [toIso(nowMs), toUuid(accountId), toIso(sinceMs), limit],
  })
}

export type Dimension = 'day' | 'channel' | 'country'

/** Sums of totals; dimensions that are not grouped by are ''. */
export type TotalRow = Record<Dimension, string> & Counts & { blocked: number }

/** In the order of day, channel and country; `after` is the last row of the page before. */
export async function sumTotals(
  db: Db,
  of: { accountId: AccountId; live: boolean; fromDay: string; toDay: string },
  by: ReadonlySet<Dimension>,
  after: readonly [string, string, string] | null,
  limit: number,
): Promise<TotalRow[]> {
  const part = (name: Dimension, text: string) => (by.has(name) ? text : `''::text`)
  const { rows } = await db.query<TotalRow>({
    name: `verification_totals_by_${[...by].sort().join('_')}`,
    text: `select * from (
             select ${part('day', 't.day::text')} as day, ${part('channel', 't.channel')} as channel,
                    ${part('country', 't.country')} as country,
                    sum(started)::bigint as started, sum(sent)::bigint as sent, sum(delivered)::bigint as delivered,
                    sum(verified)::bigint as verified, sum(cost)::bigint as cost, sum(blocked)::bigint as blocked
               from verification_totals t
              where t.account_id = $1 and t.live = $2 and t.day between $3::date and $4::date
              group by 1, 2, 3) s
            where $5::text is null or (s.day, s.channel, s.country) > ($5, $6, $7)
            order by day, channel, country limit $8`,
    values: [toUuid(of.accountId), of.live, of.fromDay, of.toDay, ...(after ?? [null, null, null]), limit],
  })
  return rows
}

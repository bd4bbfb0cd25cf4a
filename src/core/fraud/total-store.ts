import type { Channel, MessageStatus } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, textArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'

/** What is totalled; cost in micros. */
export type Counts = {
  started: number
  sent: number
  delivered: number
  verified: number
  cost: number
}

/** Something to add to the totals of one day, channel and country; may be less than nothing. */
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

/** Adds to the totals; in the order of their keys, so that those who do never wait in a circle. */
export async function addTotals(db: Db, shares: readonly TotalShare[]): Promise<void> {
  if (shares.length === 0) return
  await db.query({
    name: 'verification_totals_add',
    text: `insert into verification_totals as t
             (account_id, live, day, channel, country, started, sent, delivered, verified, cost, blocked)
           select account_id, live, day, channel, country, sum(started), sum(sent), sum(delivered), sum(verified),
                  sum(cost), sum(blocked)
             from unnest($1::uuid[], $2::boolean[], $3::date[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
                    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
               as i (account_id, live, day, channel, country, started, sent, delivered, verified, cost, blocked)
            group by account_id, live, day, channel, country
            order by account_id, live, day, channel, country
           on conflict (account_id, live, day, channel, country) do update set
             started = t.started + excluded.started, sent = t.sent + excluded.sent,
             delivered = t.delivered + excluded.delivered, verified = t.verified + excluded.verified,
             cost = t.cost + excluded.cost, blocked = t.blocked + excluded.blocked`,
    values: [
      bareArray(shares.map(share => toUuid(share.accountId))),
      bareArray(shares.map(share => share.live)),
      textArray(shares.map(share => toIso(share.atMs).slice(0, 10))),
      textArray(shares.map(share => share.channel)),
      textArray(shares.map(share => share.country ?? '')),
      ...(['started', 'sent', 'delivered', 'verified', 'cost', 'blocked'] as const).map(name =>
        bareArray(shares.map(share => share[name])),
      ),
    ],
  })
}

/** A verification whose part in the totals may have changed. */
export type Uncounted = {
  accountId: AccountId
  /** As the store has it. */
  uuid: string
  /** Null where the verification itself is gone. */
  verification: {
    live: boolean
    status: string
    channel: Channel
    country: string | null
    startedAtMs: number
    messages: readonly { channel: Channel; status: MessageStatus; cost: number }[]
  } | null
  counted: readonly (Counts & { channel: Channel })[]
}

type Raw = {
  account_id: string
  id: string
  counted: Uncounted['counted']
  verification: Uncounted['verification']
}

/** Those whose time has come, held until the transaction ends; what another node holds is passed over. */
export function takeDue(db: Db, nowMs: number, limit: number): Promise<Uncounted[]> {
  return take(db, nowMs, null, limit)
}

/** The newest of an account, due or not, held until the transaction ends. */
export function takeNewest(db: Db, accountId: AccountId, limit: number): Promise<Uncounted[]> {
  return take(db, 0, accountId, limit)
}

async function take(db: Db, nowMs: number, accountId: AccountId | null, limit: number): Promise<Uncounted[]> {
  const { rows } = await db.query<Raw>({
    name: 'take_uncounted',
    text: 'select * from take_uncounted($1,$2,$3)',
    values: [toIso(nowMs), accountId && toUuid(accountId), limit],
  })
  return rows.map(toUncounted)
}

function toUncounted({ account_id, id, ...rest }: Raw): Uncounted {
  return { accountId: fromUuid('acc', account_id), uuid: id, ...rest }
}

/** What was counted of each, and when to look again; never again where that is null. */
export async function noteCounted(
  db: Db,
  rows: readonly {
    accountId: AccountId
    uuid: string
    counted: Uncounted['counted']
    lookAtMs: number | null
  }[],
): Promise<void> {
  const done = rows.filter(row => row.lookAtMs === null)
  await db.query({
    name: 'verification_uncounted_done',
    text: `delete from verification_uncounted u using unnest($1::uuid[], $2::uuid[]) as i (account_id, id)
            where u.account_id = i.account_id and u.id = i.id`,
    values: [bareArray(done.map(row => toUuid(row.accountId))), bareArray(done.map(row => row.uuid))],
  })
  const open = rows.filter(row => row.lookAtMs !== null)
  await db.query({
    name: 'verification_uncounted_again',
    text: `update verification_uncounted u set counted = i.counted::jsonb, look_at = i.look_at
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as i (account_id, id, counted, look_at)
            where u.account_id = i.account_id and u.id = i.id`,
    values: [
      bareArray(open.map(row => toUuid(row.accountId))),
      bareArray(open.map(row => row.uuid)),
      textArray(open.map(row => JSON.stringify(row.counted))),
      textArray(open.map(row => toIso(row.lookAtMs!))),
    ],
  })
}

export type Dimension = 'day' | 'channel' | 'country'

/** Sums of totals; what they are not parted by is ''. */
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

import type { Db } from '../../infra/db.ts'
import { int4Array, int8Array, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { type AccountId, type BotId, type ConnectionId, fromUuid } from '../../lib/ids.ts'

/** The right to poll a bot's updates, until another node claims it. */
export type FeedLease = {
  accountId: AccountId
  botId: BotId
  connectionId: ConnectionId
  fence: number
  /** A problem with its updates is stored. */
  hasProblem: boolean
}

type RawLease = {
  account_id: string
  bot_id: string
  connection_id: string
  fence: number
  troubled: boolean
}

/**
 * Claims bots that no living node holds, up to this node's share of all bots. Skips locked rows: they are
 * claimed the next time.
 */
export async function claimFeeds(db: Db, node: number, limit: number): Promise<FeedLease[]> {
  const { rows } = await db.query<RawLease>({
    name: 'bot_feeds_claim',
    text: `with share as (
             select greatest(0, ceil(count(*)::numeric / greatest(1, (select count(*) from nodes)))
                      - count(*) filter (where node = $1)) as n
               from bot_feeds where polled),
           due as (
             select account_id, bot_id from bot_feeds f
              where f.polled and (f.node is null or not exists (select 1 from nodes n where n.id = f.node))
              order by account_id, bot_id limit (select least(n, $2::integer) from share) for update skip locked)
           update bot_feeds f set node = $1, fence = f.fence + 1
             from due join bots b on b.account_id = due.account_id and b.id = due.bot_id
            where f.account_id = due.account_id and f.bot_id = due.bot_id
           returning f.account_id, f.bot_id, b.connection_id, f.fence, f.problem is not null as troubled`,
    values: [node, limit],
  })
  return rows.map(toLease)
}

/** The leases of a node, and how many of them exceed its share. */
export async function listHeldFeeds(db: Db, node: number): Promise<{ leases: FeedLease[]; surplus: number }> {
  const { rows } = await db.query<RawLease & { share: number }>({
    name: 'bot_feeds_held',
    text: `select f.account_id, f.bot_id, b.connection_id, f.fence, f.problem is not null as troubled,
                  (select ceil(count(*)::numeric / greatest(1, (select count(*) from nodes)))::integer
                     from bot_feeds where polled) as share
             from bot_feeds f join bots b on b.account_id = f.account_id and b.id = f.bot_id
            where f.polled and f.node = $1 order by f.account_id, f.bot_id`,
    values: [node],
  })
  return { leases: rows.map(toLease), surplus: Math.max(0, rows.length - (rows[0]?.share ?? 0)) }
}

/** Releases leases, for other nodes to claim. */
export async function releaseFeeds(db: Db, leases: readonly FeedLease[]): Promise<void> {
  if (leases.length === 0) return
  await db.query({
    name: 'bot_feeds_release',
    text: `update bot_feeds f set node = null
             from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as i (account_id, bot_id, fence)
            where f.account_id = i.account_id and f.bot_id = i.bot_id and f.fence = i.fence`,
    values: [
      uuidArray(leases, lease => lease.accountId),
      uuidArray(leases, lease => lease.botId),
      int8Array(leases, lease => lease.fence),
    ],
  })
}

/** A bot whose updates are being stored; `fence` is null where they came by webhook. */
export type FeedRef = { accountId: AccountId; botId: BotId; fence: number | null }

/** The key of a feed in the result of `lockFeeds`. */
export function keyOfFeed({ botId, fence }: Pick<FeedRef, 'botId' | 'fence'>): string {
  return `${botId} ${fence}`
}

/**
 * Locks feeds until the transaction ends, so that a bot's updates are stored one after the
 * other. Returns the keys of those that exist and still have this fence. Locks in order, so that concurrent calls do not deadlock.
 */
export async function lockFeeds(db: Db, refs: readonly FeedRef[]): Promise<Set<string>> {
  const { rows } = await db.query<{ bot_id: string; fence: number | null }>({
    name: 'bot_feeds_lock',
    text: `select f.bot_id, i.fence
             from (select distinct * from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as i (account_id, bot_id, fence)) i
             join bot_feeds f on f.account_id = i.account_id and f.bot_id = i.bot_id
            where i.fence is null or f.fence = i.fence
            order by f.account_id, f.bot_id for no key update of f`,
    values: [
      uuidArray(refs, ref => ref.accountId),
      uuidArray(refs, ref => ref.botId),
      int8Array(refs, ref => ref.fence),
    ],
  })
  return new Set(rows.map(row => keyOfFeed({ botId: fromUuid('bot', row.bot_id), fence: row.fence })))
}

export type FeedChange = {
  accountId: AccountId
  botId: BotId
  /** The change of the number of subscribers. */
  subscriberDelta: number
  /** Null without an update. */
  lastUpdateAtMs: number | null
}

/** Stores changes of feeds, which this transaction has locked. */
export async function updateFeeds(db: Db, changes: readonly FeedChange[]): Promise<void> {
  await db.query({
    name: 'bot_feeds_note',
    text: `update bot_feeds f set subscribers = f.subscribers + i.n, last_update_at = greatest(f.last_update_at, i.at)
             from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[]) as i (account_id, bot_id, n, at)
            where f.account_id = i.account_id and f.bot_id = i.bot_id`,
    values: [
      uuidArray(changes, change => change.accountId),
      uuidArray(changes, change => change.botId),
      int4Array(changes, change => change.subscriberDelta),
      timeArray(changes, change => change.lastUpdateAtMs),
    ],
  })
}

function toLease(raw: RawLease): FeedLease {
  return {
    accountId: fromUuid('acc', raw.account_id),
    botId: fromUuid('bot', raw.bot_id),
    connectionId: fromUuid('cnn', raw.connection_id),
    fence: raw.fence,
    hasProblem: raw.troubled,
  }
}

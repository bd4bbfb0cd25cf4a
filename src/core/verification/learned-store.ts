import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid } from '../../lib/ids.ts'
import type { ChannelStat } from './channel-order.ts'

export type LearnedRow = ChannelStat & {
  accountId: AccountId
  country: string
  channel: Channel
  /** The time to which the sums are aged, in ms since the epoch. */
  atMs: number
}

type Raw = {
  account_id: string
  country: string
  channel: Channel
  at: Date
  tried: number
  verified: number
  delivered: number
  delivery_seconds: number
}

/** Everything that was learned by these accounts. */
export async function selectLearned(db: Db, accounts: readonly AccountId[]): Promise<LearnedRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'channel_learning_of',
    text: `select l.* from unnest($1::uuid[]) as i (account_id) join channel_learning l on l.account_id = i.account_id`,
    values: [uuidArray(accounts, id => id)],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    country: row.country,
    channel: row.channel,
    atMs: row.at.getTime(),
    tried: row.tried,
    verified: row.verified,
    delivered: row.delivered,
    deliverySeconds: row.delivery_seconds,
  }))
}

/** Deletes sums that were not added to for so long that they have faded to nothing; returns how many. */
export async function sweepLearned(db: Db, beforeMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'channel_learning_sweep',
    text: 'delete from channel_learning where at < $1',
    values: [toIso(beforeMs)],
  })
  return rowCount ?? 0
}

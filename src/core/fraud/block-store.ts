import type { Channel } from '../../contract/enums.ts'
import type { BlockAction, FraudRule } from '../../contract/fraud.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, textArray, timeArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, firstUuidAt, fromUuid, type Id, LAST_UUID, toUuid } from '../../lib/ids.ts'

export type BlockRow = {
  accountId: AccountId
  id: Id<'blk'>
  action: BlockAction
  rule: FraudRule
  reason: string
  recipient: string
  country: string | null
  channel: Channel
  clientIp: string | null
  retryAtMs: number
}

type Raw = {
  account_id: string
  id: string
  action: BlockAction
  rule: FraudRule
  reason: string
  recipient: string
  country: string | null
  channel: Channel
  client_ip: string | null
  retry_at: Date
}

export async function insertBlocks(db: Db, rows: readonly BlockRow[]): Promise<void> {
  await db.query({
    name: 'verification_blocks_insert',
    text: `insert into verification_blocks
             (account_id, id, action, rule, reason, recipient, country, channel, client_ip, retry_at)
           select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
             $8::text[], $9::text[], $10::timestamptz[])`,
    values: [
      bareArray(rows.map(row => toUuid(row.accountId))),
      bareArray(rows.map(row => toUuid(row.id))),
      textArray(rows.map(row => row.action)),
      textArray(rows.map(row => row.rule)),
      textArray(rows.map(row => row.reason)),
      textArray(rows.map(row => row.recipient)),
      textArray(rows.map(row => row.country)),
      textArray(rows.map(row => row.channel)),
      textArray(rows.map(row => row.clientIp)),
      timeArray(rows.map(row => row.retryAtMs)),
    ],
  })
}

export type BlockFilter = {
  action?: BlockAction
  rule?: FraudRule
  recipient?: string
  country?: string
  afterMs?: number
  beforeMs?: number
}

/** The newest first; `before` is the last id of the page before. */
export async function listBlocks(
  db: Db,
  accountId: AccountId,
  filter: BlockFilter,
  before: Id<'blk'> | null,
  limit: number,
): Promise<BlockRow[]> {
  const values: unknown[] = [toUuid(accountId), before === null ? LAST_UUID : toUuid(before), limit]
  const wheres = ['b.account_id = $1', 'b.id < $2']
  for (const name of ['action', 'rule', 'recipient', 'country'] as const) {
    if (filter[name] !== undefined) wheres.push(`b.${name} = $${values.push(filter[name])}`)
  }
  // Ids carry their time.
  if (filter.afterMs !== undefined) wheres.push(`b.id >= $${values.push(firstUuidAt(filter.afterMs + 1))}`)
  if (filter.beforeMs !== undefined) wheres.push(`b.id < $${values.push(firstUuidAt(filter.beforeMs))}`)
  const { rows } = await db.query<Raw>({
    name: `verification_blocks_${Object.keys(filter).join('_')}`,
    text: `select b.* from verification_blocks b where ${wheres.join(' and ')} order by b.id desc limit $3`,
    values,
  })
  return rows.map(toRow)
}

/** Forgets blocks older than a time; how many. */
export async function sweepBlocks(db: Db, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'verification_blocks_sweep',
    text: `delete from verification_blocks where ctid = any (array(
             select ctid from verification_blocks where id < first_uuid_at($1) limit $2 for update skip locked))`,
    values: [toIso(beforeMs), limit],
  })
  return rowCount ?? 0
}

function toRow(raw: Raw): BlockRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('blk', raw.id),
    action: raw.action,
    rule: raw.rule,
    reason: raw.reason,
    recipient: raw.recipient,
    country: raw.country,
    channel: raw.channel,
    clientIp: raw.client_ip,
    retryAtMs: raw.retry_at.getTime(),
  }
}

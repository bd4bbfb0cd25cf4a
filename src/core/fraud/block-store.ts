import type { Channel } from '../../contract/enums.ts'
import type { BlockAction, FraudRule } from '../../contract/fraud.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { MAX_SCANNED_ROWS, type Stretch } from '../../lib/bounded-scan.ts'
import { toIso } from '../../lib/clock.ts'
import {
  type AccountId,
  FIRST_UUID,
  firstUuidAt,
  fromUuid,
  type Id,
  LAST_UUID,
  toUuid,
} from '../../lib/ids.ts'

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
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      textArray(rows, row => row.action),
      textArray(rows, row => row.rule),
      textArray(rows, row => row.reason),
      textArray(rows, row => row.recipient),
      textArray(rows, row => row.country),
      textArray(rows, row => row.channel),
      textArray(rows, row => row.clientIp),
      timeArray(rows, row => row.retryAtMs),
    ],
  })
}

export type BlockId = Id<'blk'>

export type BlockFilter = {
  action?: BlockAction
  rule?: FraudRule
  recipient?: string
  country?: string
  afterMs?: number
  beforeMs?: number
}

/** The newest first. */
export async function listBlocks(
  db: Db,
  accountId: AccountId,
  filter: BlockFilter,
  { before, stoppedAt, limit }: Stretch<BlockId>,
): Promise<BlockRow[]> {
  const values: unknown[] = [
    ...placeOf(accountId, filter, before),
    stoppedAt ? toUuid(stoppedAt) : FIRST_UUID,
    limit,
  ]
  const wheres = [PLACE, 'b.id >= $5']
  for (const name of FIELDS) {
    if (filter[name] !== undefined) wheres.push(`b.${name} = $${values.push(filter[name])}`)
  }
  const { rows } = await db.query<Raw>({
    name: `verification_blocks_${FIELDS.filter(name => filter[name] !== undefined).join('_')}`,
    text: `select b.* from verification_blocks b where ${wheres.join(' and ')} order by b.id desc limit $6`,
    values,
  })
  return rows.map(toRow)
}

/** The id down to which one statement looks, so that it stays bounded; null when it may look to the end. */
export async function findBlockScanEnd(
  db: Db,
  accountId: AccountId,
  filter: BlockFilter,
  before: BlockId | null,
): Promise<BlockId | null> {
  const { rows } = await db.query<{ id: string }>({
    name: 'verification_blocks_end',
    text: `select b.id from verification_blocks b where ${PLACE} order by b.id desc offset ${MAX_SCANNED_ROWS - 1} limit 2`,
    values: placeOf(accountId, filter, before),
  })
  return rows.length === 2 ? fromUuid('blk', rows[0]!.id) : null
}

/** Whether the filter may skip many rows before it finds one. */
export function isSelective(filter: BlockFilter): boolean {
  return FIELDS.some(name => filter[name] !== undefined)
}

const FIELDS = ['action', 'rule', 'recipient', 'country'] as const
const PLACE = 'b.account_id = $1 and b.id >= $2 and b.id < $3 and b.id < $4'

/** Ids carry their time. */
function placeOf(
  accountId: AccountId,
  { afterMs, beforeMs }: BlockFilter,
  before: BlockId | null,
): unknown[] {
  return [
    toUuid(accountId),
    afterMs === undefined ? FIRST_UUID : firstUuidAt(afterMs + 1),
    beforeMs === undefined ? LAST_UUID : firstUuidAt(beforeMs),
    before === null ? LAST_UUID : toUuid(before),
  ]
}

/** Deletes blocks older than a time, at most `limit`; returns how many. */
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

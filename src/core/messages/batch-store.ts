import type { Db } from '../../infra/db.ts'
import { bareArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import type { ExistingKey, KeyClaim } from './hot-store.ts'

/** A key that was there before, and the batch that it stands for, if it is one that was not finished. */
export type ExistingBatchKey = ExistingKey & { batch: MessageId[] | null; batchAt: number | null }

type Raw = {
  mine: boolean
  body_hash: Buffer
  message_id: string | null
  status: number | null
  body: string | null
  created_at: Date
  batch: string[] | null
  batch_at: Date | null
}

/** Claims a key for a batch before any of its messages is accepted. Null when claimed; what was there first otherwise. */
export async function claimForBatch(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  ids: readonly MessageId[],
  nowMs: number,
): Promise<ExistingBatchKey | null> {
  const { rows } = await db.query<Raw>({
    name: 'claim_for_batch',
    text: `with claimed as (
             insert into idempotency (account_id, operation, key, body_hash, created_at, batch, batch_at)
             values ($1, $2, $3, $4, $5, $6, $5)
             on conflict do nothing
             returning true as mine, body_hash, message_id, status, body, created_at, batch, batch_at)
           select * from claimed
           union all
           select false, body_hash, message_id, status, body, created_at, batch, batch_at from idempotency
            where account_id = $1 and operation = $2 and key = $3`,
    values: [
      toUuid(accountId),
      claim.operation,
      claim.key,
      claim.bodyHash,
      toIso(nowMs),
      bareArray(ids.map(toUuid)),
    ],
  })
  const row = rows.find(each => each.mine) ?? rows[0]
  // Another claim was committed while this statement ran, which does not see it yet: the next one does.
  if (!row) return claimForBatch(db, accountId, claim, ids, nowMs)
  if (row.mine) return null
  return {
    bodyHash: row.body_hash,
    messageId: row.message_id === null ? null : fromUuid('msg', row.message_id),
    status: row.status,
    body: row.body,
    createdAt: row.created_at.getTime(),
    batch: row.batch?.map(uuid => fromUuid('msg', uuid)) ?? null,
    batchAt: row.batch_at?.getTime() ?? null,
  }
}

/** Takes up a batch that somebody left unfinished; false when another was faster. */
export async function takeUpBatch(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  ids: readonly MessageId[],
  seenAtMs: number,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'take_up_batch',
    text: `update idempotency set batch = $4, batch_at = $6
            where account_id = $1 and operation = $2 and key = $3 and batch_at = $5 and status is null`,
    values: [
      toUuid(accountId),
      claim.operation,
      claim.key,
      bareArray(ids.map(toUuid)),
      toIso(seenAtMs),
      toIso(nowMs),
    ],
  })
  return rowCount === 1
}

/** Stores the answer of a batch under its key, once. */
export async function finishBatch(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  answer: { status: number; body: string },
): Promise<void> {
  await db.query({
    name: 'finish_batch',
    text: `update idempotency set status = $4, body = $5
            where account_id = $1 and operation = $2 and key = $3 and batch is not null and status is null`,
    values: [toUuid(accountId), claim.operation, claim.key, answer.status, answer.body],
  })
}

/** Which of these messages exist, and whether each was taken back. */
export async function statusesOf(
  db: Db,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, string>> {
  const { rows } = await db.query<{ id: string; status: string }>({
    name: 'statuses_of_batch',
    text: 'select id, status from messages where account_id = $1 and id = any ($2::uuid[])',
    values: [toUuid(accountId), bareArray(ids.map(toUuid))],
  })
  return new Map(rows.map(row => [fromUuid('msg', row.id), row.status]))
}

/** Whether a node lives that lived at a time. */
export async function livesSince(db: Db, atMs: number): Promise<boolean> {
  const { rows } = await db.query<{ lives: boolean }>({
    name: 'lives_since',
    text: `select exists (
             select 1 from nodes where started_at <= $1 and seen_at > now() - interval '5 seconds') as lives`,
    values: [toIso(atMs)],
  })
  return rows[0]!.lives
}

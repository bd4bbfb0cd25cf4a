import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import { someNodeRunsSince } from '../outbox/node-store.ts'
import { SWEEP_TIMEOUT_MS } from '../outbox/sweep-store.ts'
import type { ExistingKey, KeyClaim } from './hot-store.ts'

/**
 * Stores the response of a request that was refused before it became a message.
 * Null if stored; else the key that existed already.
 */
export async function claimKeyForRefusal(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  answer: { status: number; body: string },
  nowMs: number,
): Promise<StoredKey | null> {
  const { rowCount } = await db.query({
    name: 'claim_for_refusal',
    text: `insert into idempotency (account_id, operation, key, body_hash, status, body, created_at)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [
      toUuid(accountId),
      claim.operation,
      claim.key,
      claim.bodyHash,
      answer.status,
      answer.body,
      toIso(nowMs),
    ],
  })
  if (rowCount === 1) return null
  // A separate statement, because the one above does not see rows that were committed while it ran.
  const existing = await readKey(db, accountId, claim)
  // It expired after its 24 hours and was deleted meanwhile, so it is free again.
  return existing ?? claimKeyForRefusal(db, accountId, claim, answer, nowMs)
}

/** A key, and its batch if it belongs to one. */
export type StoredKey = ExistingKey & {
  batch: MessageId[] | null
  /** When a request last claimed the batch, in ms since the epoch by the database's clock. */
  batchClaimedAt: number | null
  /** How long ago that was, in ms. */
  batchAgeMs: number | null
}

/** Reads a key; null if it is free. */
export async function readKey(db: Db, accountId: AccountId, claim: KeyClaim): Promise<StoredKey | null> {
  const { rows } = await db.query<{
    body_hash: Buffer
    message_id: string | null
    status: number | null
    body: string | null
    created_at: Date
    batch: string[] | null
    batch_at: Date | null
    batch_age_ms: number | null
  }>({
    name: 'read_key',
    text: `select body_hash, message_id, status, body, created_at, batch, batch_at,
                  (extract(epoch from clock_timestamp() - batch_at) * 1000)::double precision as batch_age_ms
             from idempotency
            where account_id = $1 and operation = $2 and key = $3`,
    values: [toUuid(accountId), claim.operation, claim.key],
  })
  const row = rows[0]
  if (!row) return null
  return {
    bodyHash: row.body_hash,
    messageId: row.message_id === null ? null : fromUuid('msg', row.message_id),
    status: row.status,
    body: row.body,
    createdAt: row.created_at.getTime(),
    batch: row.batch?.map(uuid => fromUuid('msg', uuid)) ?? null,
    batchClaimedAt: row.batch_at?.getTime() ?? null,
    batchAgeMs: row.batch_age_ms,
  }
}

/** Frees a key whose 24 hours are over. Does nothing if another request was faster. */
export async function dropExpiredKey(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  createdBeforeMs: number,
): Promise<void> {
  await db.query({
    name: 'drop_expired_key',
    text: 'delete from idempotency where account_id = $1 and operation = $2 and key = $3 and created_at < $4',
    values: [toUuid(accountId), claim.operation, claim.key, toIso(createdBeforeMs)],
  })
}

/** Frees a key if it belongs to this message. */
export async function dropMessageKey(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  id: MessageId,
): Promise<void> {
  await db.query({
    name: 'drop_key_of',
    text: 'delete from idempotency where account_id = $1 and operation = $2 and key = $3 and message_id = $4',
    values: [toUuid(accountId), claim.operation, claim.key, toUuid(id)],
  })
}

/** Deletes keys older than a time, at most `limit`; returns how many. */
export async function sweepKeys(db: Db, createdBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep_keys',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from idempotency where ctid = any (array(
             select ctid from idempotency where created_at < $1 order by created_at limit $2 for update skip locked))`,
    values: [toIso(createdBeforeMs), limit],
  })
  return rowCount ?? 0
}

/** The first answer to the sender of a message. */
export type FixedAnswer = 'sent' | 'queued' | 'scheduled' | 'failed'

/**
 * Stores and returns the first answer to the sender of a message: the one that is stored already, else the
 * one for the message's end, else `queued`. Every replay repeats it.
 */
export async function fixAnswer(db: Db, accountId: AccountId, id: MessageId): Promise<FixedAnswer | null> {
  const { rows } = await db.query<{ answer: FixedAnswer }>({
    name: 'fix_answer',
    text: `update messages set answer = coalesce(answer, case
             when status in ('sent', 'delivered', 'read', 'undelivered') then 'sent'
             when status = 'failed' then 'failed'
             else 'queued' end)
           where account_id = $1 and id = $2 returning answer`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0]?.answer ?? null
}

/**
 * Whether a request may still be waiting to give the first answer: none is stored, and some
 * node with a valid lease was running when the message was accepted.
 */
export async function isAnswerPending(
  db: Db,
  accountId: AccountId,
  id: MessageId,
  acceptedMs: number,
): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>({
    name: 'answer_is_pending',
    text: `select m.answer is null and ${someNodeRunsSince('$3')} as pending
           from messages m where m.account_id = $1 and m.id = $2`,
    values: [toUuid(accountId), toUuid(id), toIso(acceptedMs)],
  })
  return rows[0]?.pending ?? false
}

import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type MessageId, toUuid } from '../../lib/ids.ts'
import { someNodeRunsSince } from '../outbox/node-store.ts'
import type { KeyClaim } from './hot-store.ts'
import { readKey, type StoredKey } from './idempotency-store.ts'

/**
 * SQL: the time at which a request claims a batch, by the database's clock, since a repeat may be handled by
 * another node; in whole milliseconds, as it is read.
 */
const CLAIM_TIME = `date_trunc('milliseconds', clock_timestamp())`

/** Claims a key for a batch before any of its messages is accepted: when, in ms, or the key that existed already. */
export async function claimBatchKey(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  ids: readonly MessageId[],
  nowMs: number,
): Promise<number | StoredKey> {
  const { rows } = await db.query<{ claimedAt: Date }>({
    name: 'claim_for_batch',
    text: `insert into idempotency (account_id, operation, key, body_hash, created_at, batch, batch_at)
           values ($1, $2, $3, $4, $5, $6, ${CLAIM_TIME}) on conflict do nothing
           returning batch_at as "claimedAt"`,
    values: [
      toUuid(accountId),
      claim.operation,
      claim.key,
      claim.bodyHash,
      toIso(nowMs),
      uuidArray(ids, id => id),
    ],
  })
  if (rows[0]) return rows[0].claimedAt.getTime()
  // It expired after its 24 hours and was deleted meanwhile, so it is free again.
  return (await readKey(db, accountId, claim)) ?? claimBatchKey(db, accountId, claim, ids, nowMs)
}

/** Claims a batch that an earlier request left unfinished; when, in ms, or null if another request was faster. */
export async function claimUnfinishedBatch(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  ids: readonly MessageId[],
  claimedAtMs: number,
): Promise<number | null> {
  const { rows } = await db.query<{ takenUpAt: Date }>({
    name: 'claim_unfinished_batch',
    text: `update idempotency set batch = $4, batch_at = ${CLAIM_TIME}
            where account_id = $1 and operation = $2 and key = $3 and batch_at = $5 and status is null
           returning batch_at as "takenUpAt"`,
    values: [toUuid(accountId), claim.operation, claim.key, uuidArray(ids, id => id), toIso(claimedAtMs)],
  })
  return rows[0]?.takenUpAt.getTime() ?? null
}

/** Stores the answer of a batch under its key, once; false if another request has taken the batch up since `claimedAtMs`. */
export async function finishBatch(
  db: Db,
  accountId: AccountId,
  claim: KeyClaim,
  claimedAtMs: number,
  answer: { status: number; body: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'finish_batch',
    text: `update idempotency set status = $4, body = $5
            where account_id = $1 and operation = $2 and key = $3 and batch_at = $6 and status is null`,
    values: [toUuid(accountId), claim.operation, claim.key, answer.status, answer.body, toIso(claimedAtMs)],
  })
  return rowCount === 1
}

/** Whether any of these messages was routed to this provider. */
export async function usesProvider(
  db: Db,
  accountId: AccountId,
  ids: readonly MessageId[],
  provider: string,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'batch_uses_provider',
    text: `select exists (select 1 from messages
                           where account_id = $1 and id = any ($2::uuid[]) and provider = $3) as found`,
    values: [toUuid(accountId), uuidArray(ids, id => id), provider],
  })
  return rows[0]!.found
}

/** Whether some node with a valid lease was already running at a time. */
export async function someNodeStillRuns(db: Db, atMs: number): Promise<boolean> {
  const { rows } = await db.query<{ lives: boolean }>({
    name: 'some_node_still_runs',
    text: `select ${someNodeRunsSince('$1')} as lives`,
    values: [toIso(atMs)],
  })
  return rows[0]!.lives
}

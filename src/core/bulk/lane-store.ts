import type { Db } from '../../infra/db.ts'
import { int4Array, int8Array, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'
import { JOB_COLUMNS, type Job, type JobRef, type RawJob, toJob } from './job.ts'

export type LaneLease = { accountId: AccountId; fence: number }

/** Claims lanes that wait for a node (migrations/functions/claim_bulk_lanes.sql); `held`: lanes that this node has. */
export async function claimLanes(
  db: Db,
  node: number,
  limit: number,
  held: readonly AccountId[],
): Promise<LaneLease[]> {
  const { rows } = await db.query<{ account_id: string; fence: number }>({
    name: 'claim_bulk_lanes',
    text: 'select * from claim_bulk_lanes($1, $2, $3)',
    values: [node, limit, uuidArray(held, id => id)],
  })
  return rows.map(row => ({ accountId: fromUuid('acc', row.account_id), fence: row.fence }))
}

/** Releases lanes. */
export async function releaseLanes(db: Db, node: number, accountIds: readonly AccountId[]): Promise<void> {
  if (accountIds.length === 0) return
  await db.query({
    name: 'release_bulk_lanes',
    text: `update bulk_lanes set node = null where node = $1 and account_id in (
             select account_id from bulk_lanes where account_id = any ($2::uuid[]) order by account_id for update)`,
    values: [node, uuidArray(accountIds, id => id)],
  })
}

/** A job that is to be sent; rows below `handedBelow` have been handed over already. */
export type SendingJob = Job & { handedBelow: number }

/** The jobs of these accounts that are to be sent, per account in the order of their creation. */
export async function listSending(db: Db, accountIds: readonly AccountId[]): Promise<SendingJob[]> {
  const { rows } = await db.query<RawJob & { handed_below: number }>({
    name: 'bulk_list_sending',
    text: `select ${JOB_COLUMNS}, handed_below from bulk_jobs
            where account_id = any ($1::uuid[]) and ended_at is null and status in ('queued', 'running')
            order by account_id, id`,
    values: [uuidArray(accountIds, id => id)],
  })
  return rows.map(row => ({ ...toJob(row), handedBelow: row.handed_below }))
}

/** Stores which jobs are running, and their progress; jobs that were paused or ended meanwhile are left alone. */
export async function storeTurns(
  db: Db,
  turns: readonly (JobRef & { status: 'queued' | 'running'; handedBelow: number })[],
  nowMs: number,
): Promise<void> {
  if (turns.length === 0) return
  await db.query({
    name: 'bulk_note_turns',
    text: `with turns as (
             select j.account_id, j.id, i.status, i.below
               from unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[]) as i (account_id, id, status, below)
               join bulk_jobs j on j.account_id = i.account_id and j.id = i.id
              where j.status in ('queued', 'running')
              order by j.account_id, j.id for no key update of j)
           update bulk_jobs j set status = t.status, handed_below = greatest(j.handed_below, t.below),
                  started_at = case when t.status = 'running' then coalesce(j.started_at, $5) else j.started_at end
             from turns t where j.account_id = t.account_id and j.id = t.id`,
    values: [
      uuidArray(turns, turn => turn.accountId),
      uuidArray(turns, turn => turn.id),
      textArray(turns, turn => turn.status),
      int4Array(turns, turn => turn.handedBelow),
      toIso(nowMs),
    ],
  })
}

/** Why the system pauses a job: nothing covers its next row, or a provider asked to wait. */
export type PauseCause =
  | { reason: 'insufficient_balance'; amount: number; channel: string }
  | { reason: 'provider_rate_limit'; untilMs: number }

/** Pauses a job until its next row is covered, or until the time that the provider asked for. */
export async function pauseBySystem(db: Db, { accountId, id }: JobRef, cause: PauseCause): Promise<void> {
  const short = cause.reason === 'insufficient_balance' ? cause : null
  await db.query({
    name: 'bulk_pause_by_system',
    text: `update bulk_jobs set status = 'paused', pause_reason = $3, resume_at = $4, needs_amount = $5, needs_channel = $6, started_at = null
            where account_id = $1 and id = $2 and status in ('queued', 'running')`,
    values: [
      toUuid(accountId),
      toUuid(id),
      cause.reason,
      cause.reason === 'provider_rate_limit' ? toIso(cause.untilMs) : null,
      short?.amount ?? null,
      short?.channel ?? null,
    ],
  })
}

export type FailedRow = JobRef & { n: number; fence: number; code: string; message: string }

/** Marks rows as failed (migrations/functions/fail_bulk_rows.sql); false for rows that this node may not fail. */
export async function failRows(
  db: Db,
  node: number,
  nowMs: number,
  rows: readonly FailedRow[],
): Promise<boolean[]> {
  const { rows: stale } = await db.query<{ item: number }>({
    name: 'fail_bulk_rows',
    text: 'select * from fail_bulk_rows($1,$2,$3,$4,$5,$6,$7,$8)',
    values: [
      node,
      toIso(nowMs),
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      int4Array(rows, row => row.n),
      int8Array(rows, row => row.fence),
      textArray(rows, row => row.code),
      textArray(rows, row => row.message),
    ],
  })
  const items = new Set(stale.map(row => row.item))
  return rows.map((_, at) => !items.has(at + 1))
}

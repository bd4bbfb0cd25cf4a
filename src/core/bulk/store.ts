import type { BulkStatus } from '../../contract/bulk.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, FIRST_UUID, fromUuid, LAST_UUID, type MessageId, toUuid } from '../../lib/ids.ts'
import { poolPays } from '../billing/funding-store.ts'
import { JOB_COLUMNS, type Job, type JobId, type JobRef, type RawJob, toJob } from './job.ts'

export async function selectJob(db: Db, { accountId, id }: JobRef): Promise<Job | null> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_read',
    text: `select ${JOB_COLUMNS} from bulk_jobs where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/** The newest first, after `before`, the last id of the previous page. */
export async function listJobs(
  db: Db,
  accountId: AccountId,
  filter: { status?: BulkStatus },
  before: JobId | null,
  limit: number,
): Promise<Job[]> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_list',
    text: `select ${JOB_COLUMNS} from bulk_jobs
            where account_id = $1 and id < $2
              and ($3::text is null or status = $3)
            order by id desc limit $4`,
    values: [toUuid(accountId), before === null ? LAST_UUID : toUuid(before), filter.status ?? null, limit],
  })
  return rows.map(toJob)
}

/** Jobs by their ids, for the streams that watch them. */
export async function selectJobs(db: Db, refs: readonly JobRef[]): Promise<Job[]> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_read_several',
    text: `select ${JOB_COLUMNS} from bulk_jobs where account_id = any ($1::uuid[]) and id = any ($2::uuid[])`,
    values: [refs.map(ref => toUuid(ref.accountId)), refs.map(ref => toUuid(ref.id))],
  })
  return rows.map(toJob)
}

/** A job that has ended keeps its state. */
const HAS_NOT_ENDED = `status in ('accepting', 'validating', 'queued', 'running', 'paused')`

/** Pauses a job for the account; one that is not validated yet is paused then. Null if it has ended. */
export async function pauseByUser(db: Db, { accountId, id }: JobRef): Promise<Job | null> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_pause_by_user',
    text: `update bulk_jobs set status = case when status in ('queued', 'running') then 'paused' else status end,
                  pause_reason = 'user', resume_at = null, needs_amount = null, started_at = null
            where account_id = $1 and id = $2 and ${HAS_NOT_ENDED} returning ${JOB_COLUMNS}`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/** Ends a pause of any reason, also one that is to come. Null if the job has ended. */
export async function resumeByUser(db: Db, { accountId, id }: JobRef): Promise<Job | null> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_resume_by_user',
    text: `update bulk_jobs set status = case when status = 'paused' then 'queued' else status end,
                  pause_reason = null, resume_at = null, needs_amount = null
            where account_id = $1 and id = $2 and ${HAS_NOT_ENDED} returning ${JOB_COLUMNS}`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/**
 * Cancels a job: rows that were not handed over count as cancelled. Needs a transaction: it holds the
 * account's lane lock exclusively, so that no row is accepted after the count. Null if the state does not allow it.
 */
export async function cancelByUser(tx: Db, { accountId, id }: JobRef, nowMs: number): Promise<Job | null> {
  await tx.query({
    name: 'bulk_lock_alone',
    text: 'select pg_advisory_xact_lock(bulk_lock($1))',
    values: [toUuid(accountId)],
  })
  const { rows } = await tx.query<RawJob>({
    name: 'bulk_cancel',
    text: `update bulk_jobs j set
             status = 'cancelled', pause_reason = null, resume_at = null, needs_amount = null, node = null,
             ended_at = coalesce(j.ended_at, $3),
             cancelled = j.cancelled + j.total - (
               select count(*)::integer from bulk_outcomes o
                where o.account_id = j.account_id and o.job_id = j.id and o.state <> 'invalid')
           where j.account_id = $1 and j.id = $2 and j.status in ('validating', 'queued', 'running', 'paused')
           returning ${JOB_COLUMNS}`,
    values: [toUuid(accountId), toUuid(id), toIso(nowMs)],
  })
  if (!rows[0]) return null
  await tx.query({
    name: 'bulk_cancel_end',
    text: 'select end_bulk_jobs($1, array[$2::uuid], array[$3::uuid])',
    values: [toIso(nowMs), toUuid(accountId), toUuid(id)],
  })
  return toJob(rows[0])
}

/** Messages of a job that are still in the outbox, after `after` in the order of their ids. */
export async function listOpenMessages(
  db: Db,
  { accountId, id }: JobRef,
  after: MessageId | null,
  limit: number,
): Promise<MessageId[]> {
  const { rows } = await db.query<{ message_id: string }>({
    name: 'bulk_list_open',
    text: `select x.message_id from outbox x
            where x.account_id = $1 and x.message_id > $3 and x.bulk_row is not null
              and exists (select 1 from messages m
                           where m.account_id = $1 and m.id = x.message_id and m.bulk_job_id = $2 offset 0)
            order by x.message_id limit $4`,
    values: [toUuid(accountId), toUuid(id), after === null ? FIRST_UUID : toUuid(after), limit],
  })
  return rows.map(row => fromUuid('msg', row.message_id))
}

/**
 * Cancelled jobs with messages that still wait for their submit, because the cancel was interrupted; at most `limit`.
 * Looks only at messages accepted between the job's creation and its cancel: an account may have many others waiting.
 */
export async function listHalfCancelled(db: Db, limit: number): Promise<JobRef[]> {
  const { rows } = await db.query<{ account_id: string; id: string }>({
    name: 'bulk_list_half_cancelled',
    text: `select j.account_id, j.id from bulk_jobs j
            where j.unsettled and j.status = 'cancelled' and exists (
              select 1 from outbox x
               where x.account_id = j.account_id and x.bulk_row is not null and not x.begun
                 and x.message_id > j.id
                 and x.message_id < first_uuid_at(j.ended_at + interval '1 minute')
                 and exists (select 1 from messages m
                              where m.account_id = x.account_id and m.id = x.message_id and m.bulk_job_id = j.id offset 0))
            order by j.account_id, j.id limit $1`,
    values: [limit],
  })
  return rows.map(row => ({ accountId: fromUuid('acc', row.account_id), id: fromUuid('job', row.id) }))
}

/** Counts outcomes of messages in their jobs (migrations/functions/fold_bulk_moves.sql); returns the rows it took. */
export async function foldMoves(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ folded: number }>({
    name: 'fold_bulk_moves',
    text: 'select fold_bulk_moves($1, $2) as folded',
    timeoutMs: SETTLE_TIMEOUT_MS,
    values: [toIso(nowMs), limit],
  })
  return rows[0]!.folded
}

const SETTLE_TIMEOUT_MS = 10_000

/** Resumes jobs whose provider's wait is over, or whose next row is covered again; returns how many. */
export async function resumeDueJobs(db: Db, nowMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'bulk_resume_what_may',
    text: `update bulk_jobs j set status = 'queued', pause_reason = null, resume_at = null, needs_amount = null
            where j.ended_at is null and j.status = 'paused' and (
              j.pause_reason = 'provider_rate_limit' and j.resume_at <= $1
              or j.pause_reason = 'insufficient_balance' and (
                exists (select 1 from wallets w where w.account_id = j.account_id and w.balance >= j.needs_amount)
                or exists (select 1 from pools p where p.account_id = j.account_id and ${poolPays('j.needs_channel', '$1')})))`,
    values: [toIso(nowMs)],
  })
  return rowCount ?? 0
}

/** Ends pauses that a clock that was far ahead has set: they last until after `longestPauseUntilMs`. Returns how many. */
export async function endFarPauses(db: Db, nowMs: number, longestPauseUntilMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'bulk_end_far_pauses',
    text: `update bulk_jobs set resume_at = $1
            where ended_at is null and status = 'paused' and pause_reason = 'provider_rate_limit' and resume_at > $2`,
    values: [toIso(nowMs), toIso(longestPauseUntilMs)],
  })
  return rowCount ?? 0
}

/** Deletes rows of a refused or interrupted job, at most `limit`; returns 0 once there is no such job. */
export async function sweepRows(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ removed: number }>({
    name: 'bulk_sweep_rows',
    timeoutMs: SETTLE_TIMEOUT_MS,
    text: 'select sweep_bulk_rows($1) as removed',
    values: [limit],
  })
  return rows[0]!.removed
}

/** Deletes jobs that were created and ended before a time, at most `limit`; returns how many. Their rows are dropped with their month. */
export async function sweepJobs(db: Db, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'bulk_sweep_jobs',
    text: `delete from bulk_jobs where ctid = any (array(
             select ctid from bulk_jobs where ended_at < $1 and not unsettled and id < first_uuid_at($1) limit $2))`,
    values: [toIso(beforeMs), limit],
  })
  return rowCount ?? 0
}

/** Whether jobs of a month are left; `month` is a partition's name. */
export async function hasJobsInMonth(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'bulk_has_jobs_of',
    text: `select exists (
             select 1 from bulk_jobs, (select to_date(right($1, 7), 'YYYY_MM')::timestamp as first) m
              where id >= first_uuid_at(m.first at time zone 'UTC')
                and id < first_uuid_at((m.first + interval '1 month') at time zone 'UTC')) as found`,
    values: [month],
  })
  return rows[0]!.found
}

/** Deletes rows without a job from the default partition, at most `limit`. */
export async function sweepStrayRows(
  db: Db,
  table: 'bulk_rows' | 'bulk_outcomes',
  beforeMs: number,
  limit: number,
): Promise<void> {
  await db.query({
    name: `sweep_strays_${table}`,
    timeoutMs: SETTLE_TIMEOUT_MS,
    text: `delete from ${table}_other where ctid = any (array(
             select r.ctid from ${table}_other r where r.job_id < first_uuid_at($1)
                and not exists (select 1 from bulk_jobs j where j.account_id = r.account_id and j.id = r.job_id) limit $2))`,
    values: [toIso(beforeMs), limit],
  })
}

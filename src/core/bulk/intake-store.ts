import type { Caller } from '../../contract/caller.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'
import { JOB_COLUMNS, type Job, type JobId, type JobRef, type RawJob, toJob } from './job.ts'

/** The job with an idempotency key; null if there is none. */
export async function findByKey(db: Db, accountId: AccountId, key: string): Promise<Job | null> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_by_key',
    text: `select ${JOB_COLUMNS} from bulk_jobs where account_id = $1 and key = $2`,
    values: [toUuid(accountId), key],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/** A job whose body is arriving. */
export type NewIntake = JobRef & {
  live: boolean
  keyId: Caller['keyId']
  key: string
  name: string
  perSecond: number | null
}

/** Inserts a job in state `accepting`; false if another job has its idempotency key. A call that got no answer may be repeated. */
export async function insertAccepting(db: Db, job: NewIntake, node: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'bulk_insert',
    text: `with made as (
             insert into bulk_jobs (account_id, id, live, key_id, key, name, per_second, status, node)
             values ($1, $2, $3, $4, $5, $6, $7, 'accepting', $8) on conflict do nothing returning 1)
           select 1 from made
           union all select 1 from bulk_jobs where account_id = $1 and id = $2 and status = 'accepting'`,
    values: [
      toUuid(job.accountId),
      toUuid(job.id),
      job.live,
      toUuid(job.keyId),
      job.key,
      job.name,
      job.perSecond,
      node,
    ],
  })
  return rows.length === 1
}

/** Stores the progress of the intake; false if the job is no longer `accepting`. */
export async function storeProgress(
  db: Db,
  { accountId, id }: JobRef,
  progress: { total: number; name: string; perSecond: number | null },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'bulk_note_accepted',
    text: `update bulk_jobs set total = $3, name = $4, per_second = $5
            where account_id = $1 and id = $2 and status = 'accepting'`,
    values: [toUuid(accountId), toUuid(id), progress.total, progress.name, progress.perSecond],
  })
  return rowCount === 1
}

/** Ends the intake once all rows are stored; null if the job was rejected meanwhile. */
export async function finishIntake(
  db: Db,
  { accountId, id }: JobRef,
  body: { total: number; name: string; perSecond: number; bodyHash: Buffer },
): Promise<Job | null> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_finish_intake',
    text: `update bulk_jobs set status = 'validating', node = null, total = $3, name = $4, per_second = $5, body_hash = $6
            where account_id = $1 and id = $2 and status = 'accepting' returning ${JOB_COLUMNS}`,
    values: [toUuid(accountId), toUuid(id), body.total, body.name, body.perSecond, body.bodyHash],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/** Rejects a job whose intake was interrupted. The job remains, its rows are to be deleted, and its key is free again. */
export async function rejectIncomplete(
  db: Db,
  { accountId, id }: JobRef,
  why: string,
  nowMs: number,
): Promise<void> {
  await db.query({
    name: 'bulk_reject_incomplete',
    text: `with gone as (
             update bulk_jobs set ${INCOMPLETE('$3', '$4')}
              where account_id = $1 and id = $2 and status = 'accepting' returning 1)
           ${QUEUE_ROW_SWEEP}`,
    values: [toUuid(accountId), toUuid(id), why, toIso(nowMs)],
  })
}

/** Also if a sweep has rejected the job already: more rows may have been stored after that. */
const QUEUE_ROW_SWEEP = `insert into bulk_sweeps (account_id, job_id) select $1, $2
  where exists (select 1 from gone) or not exists (
    select 1 from bulk_jobs where account_id = $1 and id = $2 and error_code is distinct from 'INTAKE_INCOMPLETE')
  on conflict do nothing`

const INCOMPLETE = (why: string, now: string) =>
  `status = 'rejected', pause_reason = null, key = null, node = null, total = 0, error_code = 'INTAKE_INCOMPLETE', error_message = ${why},
   ended_at = ${now}::timestamptz`

/** Jobs in state `accepting` of dead nodes, and of this node (`isOwn`). */
export async function findAccepting(db: Db, node: number): Promise<{ id: JobId; isOwn: boolean }[]> {
  const { rows } = await db.query<{ id: string; isOwn: boolean }>({
    name: 'bulk_accepting',
    text: `select j.id, j.node = $1 as "isOwn" from bulk_jobs j
            where j.status = 'accepting' and j.ended_at is null
              and (j.node = $1 or not exists (select 1 from nodes n where n.id = j.node))`,
    values: [node],
  })
  return rows.map(({ id, isOwn }) => ({ id: fromUuid('job', id), isOwn }))
}

/** `rejectIncomplete` for jobs that no node takes in any more. */
export async function rejectAbandoned(db: Db, ids: readonly JobId[], nowMs: number): Promise<void> {
  await db.query({
    name: 'bulk_reject_abandoned',
    text: `with gone as (
             update bulk_jobs set ${INCOMPLETE('$2', '$3')}
              where status = 'accepting' and ended_at is null and id = any ($1::uuid[])
             returning account_id, id)
           insert into bulk_sweeps (account_id, job_id) select account_id, id from gone on conflict do nothing`,
    values: [
      ids.map(toUuid),
      'the server that received the job stopped before all rows were stored',
      toIso(nowMs),
    ],
  })
}

/** Deletes a job whose request was refused after some of its rows were stored. */
export async function dropAccepting(db: Db, { accountId, id }: JobRef): Promise<void> {
  await db.query({
    name: 'bulk_drop',
    text: `with gone as (
             delete from bulk_jobs where account_id = $1 and id = $2 and status = 'accepting' returning 1)
           ${QUEUE_ROW_SWEEP}`,
    values: [toUuid(accountId), toUuid(id)],
  })
}

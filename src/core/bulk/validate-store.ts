import type { Db } from '../../infra/db.ts'
import { int4Array, textArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { toUuid } from '../../lib/ids.ts'
import { JOB_COLUMNS, type Job, type JobRef, type RawJob, toJob } from './job.ts'

/** The price of the cheapest row of each channel, in micros. */
export type Cheapest = Readonly<Record<string, number>>

/** A row that failed the validation. */
export type InvalidRow = { n: number; code: string; message: string }

/**
 * Claims jobs for validation, at most `limit`: those that this node has already, and those that no live node has. The
 * ones with the fewest validated rows come first: a short job does not wait until long ones, maybe of another account,
 * are done.
 */
export async function claimValidations(db: Db, node: number, limit: number): Promise<Job[]> {
  const { rows } = await db.query<RawJob>({
    name: 'bulk_claim_validations',
    text: `with free as (
             select account_id, id from bulk_jobs j
              where j.status = 'validating' and j.ended_at is null
                and (j.node is null or j.node = $1 or not exists (select 1 from nodes n where n.id = j.node))
              order by j.validated, j.node is null, j.id limit $2 for no key update skip locked)
           update bulk_jobs j set node = $1 from free where j.account_id = free.account_id and j.id = free.id
           returning ${JOB_COLUMNS.replaceAll(/\b(account_id|id)\b/g, 'j.$1')}`,
    values: [node, limit],
  })
  return rows.map(toJob)
}

/**
 * Stores the invalid rows and the progress of the validation in one statement: rows up to
 * `to` are checked. False if the job is no longer this node's to validate.
 */
export async function storePage(
  db: Db,
  node: number,
  { accountId, id }: JobRef,
  page: { from: number; to: number; invalid: readonly InvalidRow[]; cheapest: Cheapest },
): Promise<boolean> {
  const { rows } = await db.query<{ noted: number }>({
    name: 'bulk_note_page',
    text: `with noted as (
             update bulk_jobs set validated = $5, invalid = invalid + cardinality($6::integer[]), cheapest = $9
              where account_id = $1 and id = $2 and node = $3 and status = 'validating' and validated = $4
             returning account_id, id),
           kept as (
             insert into bulk_outcomes (account_id, job_id, n, state, error_code, error_message)
             select noted.account_id, noted.id, i.n, 'invalid', i.code, i.message
               from noted, unnest($6::integer[], $7::text[], $8::text[]) as i (n, code, message))
           select count(*)::integer as noted from noted`,
    values: [
      toUuid(accountId),
      toUuid(id),
      node,
      page.from,
      page.to,
      int4Array(page.invalid, row => row.n),
      textArray(page.invalid, row => row.code),
      textArray(page.invalid, row => row.message),
      JSON.stringify(page.cheapest),
    ],
  })
  return rows[0]!.noted === 1
}

/** Replaces rows of a page, in their order, that turned out to contain a code by their sealed form. */
export async function sealRows(
  db: Db,
  { accountId, id }: JobRef,
  rows: readonly { n: number; body: string }[],
): Promise<void> {
  await db.query({
    name: 'bulk_seal_rows',
    text: 'select seal_bulk_rows($1,$2,$3,$4)',
    values: [toUuid(accountId), toUuid(id), int4Array(rows, row => row.n), textArray(rows, row => row.body)],
  })
}

export async function selectCheapest(db: Db, { accountId, id }: JobRef): Promise<Cheapest> {
  const { rows } = await db.query<{ cheapest: Cheapest }>({
    name: 'bulk_cheapest',
    text: 'select cheapest from bulk_jobs where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0]?.cheapest ?? {}
}

/** Ends a validation: queues the job and creates its lane, or rejects it. Nothing if the job is no longer this node's. */
export async function endValidation(
  db: Db,
  node: number,
  { accountId, id }: JobRef,
  refused: { code: 'VALIDATION_FAILED' | 'INSUFFICIENT_BALANCE'; message: string } | null,
  nowMs: number,
): Promise<void> {
  await db.query({
    name: 'bulk_end_validation',
    text: `with ended as (
             update bulk_jobs set node = null,
                    status = case when $4::text is not null then 'rejected' when pause_reason is null then 'queued' else 'paused' end,
                    pause_reason = case when $4::text is null then pause_reason end,
                    error_code = $4, error_message = $5, unsettled = $4::text is null,
                    ended_at = case when $4::text is null then null else $6::timestamptz end
              where account_id = $1 and id = $2 and node = $3 and status = 'validating' and validated = total
             returning account_id)
           insert into bulk_lanes (account_id) select account_id from ended where $4::text is null on conflict do nothing`,
    values: [
      toUuid(accountId),
      toUuid(id),
      node,
      refused?.code ?? null,
      refused?.message ?? null,
      toIso(nowMs),
    ],
  })
}

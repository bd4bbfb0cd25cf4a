import type { RowStatus } from '../../contract/bulk.ts'
import type { Db } from '../../infra/db.ts'
import { int4Array, uuidArray } from '../../infra/pg-array.ts'
import { fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import type { JobRef } from './job.ts'

/** A stored row: its index in the job, and its body as JSON. */
export type StoredRow = { n: number; body: string }

/** Of the bodies of a page, after its first row: rows may contain media. */
const PAGE_CHARACTERS = 4_000_000

/** Rows from `from` on, in their order: at most `limit`, and after the first row at most 4 MB. */
export async function readRows(
  db: Db,
  { accountId, id }: JobRef,
  from: number,
  limit: number,
): Promise<StoredRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'bulk_read_rows',
    text: 'select n, body from read_bulk_rows($1,$2,$3,$4,$5)',
    values: [toUuid(accountId), toUuid(id), from, limit, PAGE_CHARACTERS],
  })
  return rows
}

export type RowRequest = JobRef & { from: number; limit: number }

/**
 * For each job the next rows without an outcome from `from` on, which are still to be
 * handed over. One query for many jobs; each job's page is bounded as in `readRows`.
 */
export async function readPendingRows(db: Db, requests: readonly RowRequest[]): Promise<StoredRow[][]> {
  const { rows } = await db.query<StoredRow & { ask: number }>({
    name: 'bulk_read_waiting',
    text: 'select ask, n, body from read_waiting_rows($1,$2,$3,$4,$5)',
    values: [
      uuidArray(requests, ask => ask.accountId),
      uuidArray(requests, ask => ask.id),
      int4Array(requests, ask => ask.from),
      int4Array(requests, ask => ask.limit),
      PAGE_CHARACTERS,
    ],
  })
  const pages: StoredRow[][] = requests.map(() => [])
  for (const { ask, n, body } of rows) pages[ask - 1]!.push({ n, body })
  return pages
}

/** A row with its outcome. */
export type RowOutcome = {
  n: number
  /** The recipient, at most MAX_RECIPIENT_CHARACTERS of it. */
  to: string
  /** Null if the row was not handed over yet; `open` while its message waits or is being submitted. */
  state: 'open' | 'sent' | 'failed' | 'cancelled' | 'invalid' | null
  messageId: MessageId | null
  errorCode: string | null
  errorMessage: string | null
}

/** A page of rows; `isCut` if it has fewer rows than were asked for because they are long. */
export type RowPage = { rows: RowOutcome[]; isCut: boolean }

type RawOutcome = {
  n: number
  /** Null where the page is cut. */
  recipient: string | null
  state: RowOutcome['state']
  message_id: string | null
  error_code: string | null
  error_message: string | null
}

// `limit 1` and `offset 0` force look-ups row by row: a generic plan would rather join whole tables,
// and read all rows of the job for one page (300 ms with 10,000 rows).
// One statement per status, since a plan for any status could not use the partial index.
// $1 account, $2 job, $3 after, $4 limit.

/** The state of a row by its message `k`: `sent` once a provider accepted it, whatever receipts said later. */
const BECAME = `
  case when k.status in ('scheduled', 'queued', 'sending', 'unknown') then 'open'
       when k.status = 'cancelled' then 'cancelled'
       when k.status in ('failed', 'expired') and k.sent_at is null then 'failed'
       else 'sent' end`

/** Messages that have not ended: they are in the outbox, and few. */
const ON_THEIR_WAY = `
  (select x.bulk_row as n, 'message' as state, x.message_id, null as error_code, null as error_message from outbox x
    where x.account_id = $1 and x.bulk_row > $3
      and exists (select 1 from messages m where m.account_id = $1 and m.id = x.message_id and m.bulk_job_id = $2 offset 0)
    order by x.bulk_row limit $4)`

/** Rows with a message that was sent. */
const SENT = `
  (select o.n, o.state, o.message_id, null as error_code, null as error_message from bulk_outcomes o
    where o.account_id = $1 and o.job_id = $2 and o.n > $3 and o.state in ('message', 'sent')
      and not exists (select 1 from messages k where k.account_id = $1 and k.id = o.message_id and ${BECAME} <> 'sent' offset 0)
    order by o.n limit $4)`

function storedOutcomes(state: 'failed' | 'cancelled' | 'invalid'): string {
  return `(select n, state, message_id, error_code, error_message from bulk_outcomes
            where account_id = $1 and job_id = $2 and n > $3 and state = '${state}' order by n limit $4)`
}

/** Rows that were not handed over: they are pending, or were cancelled with their job (`ended`). */
function notHandedOver(ended: boolean): string {
  return `(select r.n, null, null::uuid, null, null from bulk_rows r
            where r.account_id = $1 and r.job_id = $2 and r.n > $3
              and r.n >= (select handed_below from bulk_jobs where account_id = $1 and id = $2)
              and not exists (select 1 from bulk_outcomes o where o.account_id = $1 and o.job_id = $2 and o.n = r.n
                                 ${ended ? "and o.state <> 'invalid'" : ''} offset 0)
            order by r.n limit $4)`
}

/** All rows, with their outcomes if there are any. */
function anyRow(ended: boolean): string {
  return `(select r.n, o.state, o.message_id, o.error_code, o.error_message
             from (select n from bulk_rows where account_id = $1 and job_id = $2 and n > $3 order by n limit $4) r
             left join lateral (select * from bulk_outcomes x where x.account_id = $1 and x.job_id = $2 and x.n = r.n
                                   ${ended ? "and x.state <> 'invalid'" : ''} limit 1) o on true)`
}

/** More than any valid recipient has. */
const MAX_RECIPIENT_CHARACTERS = 1_000

/** Bytes of the bodies of a page, after the first one: the database reads some hundred megabytes a second. */
const MAX_LISTED_BYTES = 33_554_432

/** Taken out of the body by the database: the bodies of a page may be gigabytes of attachments. */
const RECIPIENT = `
  case when f.before < ${MAX_LISTED_BYTES} then left(
    case when f.body like '[%' then f.body::json ->> 0 else f.body::json ->> 'to' end, ${MAX_RECIPIENT_CHARACTERS}) end`

function queriesFor(status: RowStatus | undefined, ended: boolean): readonly string[] {
  switch (status) {
    case undefined:
      return [anyRow(ended)]
    case 'pending':
      return ended ? [ON_THEIR_WAY] : [ON_THEIR_WAY, notHandedOver(ended)]
    case 'sent':
      return [SENT]
    case 'failed':
      return [storedOutcomes('failed')]
    case 'cancelled':
      return ended ? [storedOutcomes('cancelled'), notHandedOver(ended)] : [storedOutcomes('cancelled')]
    case 'invalid':
      return ended ? [] : [storedOutcomes('invalid')]
  }
}

/**
 * A page of a job's rows after `after`, optionally by status. In a
 * cancelled job (`ended`) all rows without a message count as cancelled, including those that the
 * validation had found invalid. State and error of a message are read from the message itself; but the filter
 * by `failed` or `cancelled` finds it only once `foldMoves` has counted it. The page ends early where the bodies of
 * its rows are too long.
 */
export async function listRows(
  db: Db,
  ref: JobRef,
  status: RowStatus | undefined,
  ended: boolean,
  after: number,
  limit: number,
): Promise<RowPage> {
  const parts = queriesFor(status, ended)
  if (parts.length === 0) return { rows: [], isCut: false }
  const { rows } = await db.query<RawOutcome>({
    name: `bulk_list_rows_${status ?? 'any'}${ended ? '_ended' : ''}`,
    // If the message is no longer kept, the row's own state counts, else `sent`.
    text: `with found as materialized (select * from (${parts.join(' union all ')}) s order by n limit $4)
           select f.n, ${RECIPIENT} as recipient,
                  case when f.state = 'message' then coalesce(m.became, 'sent') else f.state end as state,
                  f.message_id,
                  coalesce(f.error_code, case when m.became = 'failed' then m.error_code end) as error_code,
                  coalesce(f.error_message, case when m.became = 'failed' then m.error_detail end) as error_message
             from (
               select o.*, r.body, sum(octet_length(r.body)) over (order by o.n) - octet_length(r.body) as before
                 from found o
                cross join lateral (select b.body from bulk_rows b
                                     where b.account_id = $1 and b.job_id = $2 and b.n = o.n limit 1) r) f
             left join lateral (select ${BECAME} as became, k.error_code, k.error_detail from messages k
                                 where k.account_id = $1 and k.id = f.message_id and f.state <> 'sent' limit 1) m on true
            order by f.n`,
    values: [toUuid(ref.accountId), toUuid(ref.id), after, limit],
  })
  const shown = rows.flatMap(row => (row.recipient === null ? [] : [toOutcome(row, row.recipient)]))
  return { rows: shown, isCut: shown.length < rows.length }
}

function toOutcome(row: RawOutcome, to: string): RowOutcome {
  return {
    n: row.n,
    to,
    state: row.state,
    messageId: row.message_id === null ? null : fromUuid('msg', row.message_id),
    errorCode: row.error_code,
    errorMessage: row.error_message,
  }
}

import type { RowStatus } from '../../contract/bulk.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray } from '../../infra/pg-array.ts'
import { fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import type { JobRef } from './job.ts'

/** A row as it was stored. */
export type StoredRow = { n: number; body: string }

/** Most characters of a page: rows may carry media. */
const PAGE_CHARACTERS = 4_000_000

/** Rows from `from` on, in their order: at most `limit`, and, beyond the first, at most 4 MB. */
export async function readRows(
  db: Db,
  { accountId, id }: JobRef,
  from: number,
  limit: number,
): Promise<StoredRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'bulk_read_rows',
    text: `select n, body from (
             select n, body, sum(octet_length(body)) over (order by n) - octet_length(body) as before
               from (select n, body from bulk_rows where account_id = $1 and job_id = $2 and n >= $3 order by n limit $4) p
           ) s where before < $5 order by n`,
    values: [toUuid(accountId), toUuid(id), from, limit, PAGE_CHARACTERS],
  })
  return rows
}

export type RowAsk = JobRef & { from: number; limit: number }

/**
 * For each job the next rows without an outcome, from `from` on: what is still to
 * be handed over. One query for many jobs; a job's page is as bounded as above.
 * Behind the last outcome, where mostly all of them are, none is looked for (11 µs a row).
 */
export async function readWaiting(db: Db, asks: readonly RowAsk[]): Promise<StoredRow[][]> {
  const { rows } = await db.query<StoredRow & { ask: number }>({
    name: 'bulk_read_waiting',
    text: `select i.ask::integer as ask, s.n, s.body
             from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::integer[]) with ordinality
                    as i (account_id, job_id, low, most, ask),
                  lateral (
                    select coalesce(max(l.n), -1) as n from (
                      select o.n from bulk_outcomes o where o.account_id = i.account_id and o.job_id = i.job_id and o.n >= i.low
                       order by o.account_id desc, o.job_id desc, o.n desc limit 1) l) last,
                  lateral (
                    select p.n, p.body, sum(octet_length(p.body)) over (order by p.n) - octet_length(p.body) as before from (
                      select r.n, r.body from bulk_rows r
                       where r.account_id = i.account_id and r.job_id = i.job_id and r.n >= i.low
                         and (r.n > last.n or not exists (
                           select 1 from bulk_outcomes o
                            where o.account_id = r.account_id and o.job_id = r.job_id and o.n = r.n offset 0))
                       order by r.n limit i.most) p) s
            where s.before < $5 order by i.ask, s.n`,
    values: [
      bareArray(asks.map(ask => toUuid(ask.accountId))),
      bareArray(asks.map(ask => toUuid(ask.id))),
      bareArray(asks.map(ask => ask.from)),
      bareArray(asks.map(ask => ask.limit)),
      PAGE_CHARACTERS,
    ],
  })
  const pages: StoredRow[][] = asks.map(() => [])
  for (const { ask, n, body } of rows) pages[ask - 1]!.push({ n, body })
  return pages
}

/** A row with what became of it. */
export type RowOutcome = StoredRow & {
  /** Null where nothing has yet. */
  state: 'open' | 'sent' | 'failed' | 'cancelled' | 'invalid' | null
  messageId: MessageId | null
  errorCode: string | null
  errorMessage: string | null
}

type RawOutcome = {
  n: number
  body: string
  state: RowOutcome['state']
  message_id: string | null
  error_code: string | null
  error_message: string | null
}

/** The state that a status is of its own accord; rows without an outcome are pending, or cancelled with their job. */
const STATE: Record<RowStatus, NonNullable<RowOutcome['state']>> = {
  pending: 'open',
  sent: 'sent',
  failed: 'failed',
  cancelled: 'cancelled',
  invalid: 'invalid',
}

/**
 * A page of a job's rows behind `after`, by status where one is asked for. In a
 * cancelled job (`ended`) whatever is no message is cancelled, also what the validation
 * had found fault with by then. What a message failed of is read from the message.
 */
export async function listRows(
  db: Db,
  ref: JobRef,
  status: RowStatus | undefined,
  ended: boolean,
  after: number,
  limit: number,
): Promise<RowOutcome[]> {
  const rows = await (status === undefined
    ? selectRows(db, ref, ended, after, limit)
    : selectRowsBy(db, ref, status, ended, after, limit))
  return rows.map(row => ({
    n: row.n,
    body: row.body,
    state: row.state,
    messageId: row.message_id === null ? null : fromUuid('msg', row.message_id),
    errorCode: row.error_code,
    errorMessage: row.error_message,
  }))
}

// What belongs to a row is looked up row by row (`limit 1`, `offset 0`): a plan that knows no
// job would rather join it as a whole, and reads all of the job's rows for a page (300 ms at 10,000).

const FAILURE = `left join lateral (select f.error_code, f.error_detail from messages f
    where p.state = 'failed' and f.account_id = $1 and f.id = p.message_id limit 1) m on true`
const COLUMNS = `p.n, p.body, p.state, p.message_id, coalesce(p.error_code, m.error_code) as error_code,
  coalesce(p.error_message, m.error_detail) as error_message`

async function selectRows(
  db: Db,
  { accountId, id }: JobRef,
  ended: boolean,
  after: number,
  limit: number,
): Promise<RawOutcome[]> {
  const { rows } = await db.query<RawOutcome>({
    name: 'bulk_list_rows',
    text: `select ${COLUMNS} from (
             select r.n, r.body, o.state, o.message_id, o.error_code, o.error_message
               from (select n, body from bulk_rows where account_id = $1 and job_id = $2 and n > $3 order by n limit $4) r
               left join lateral (select * from bulk_outcomes x
                                   where x.account_id = $1 and x.job_id = $2 and x.n = r.n and not ($5 and x.state = 'invalid')
                                   limit 1) o on true
           ) p ${FAILURE} order by p.n`,
    values: [toUuid(accountId), toUuid(id), after, limit, ended],
  })
  return rows
}

async function selectRowsBy(
  db: Db,
  { accountId, id }: JobRef,
  status: RowStatus,
  ended: boolean,
  after: number,
  limit: number,
): Promise<RawOutcome[]> {
  const unhanded = status === (ended ? 'cancelled' : 'pending')
  // A statement for each state: the indexes are of some of them, and a plan for any state could use none.
  const state = STATE[status]
  const { rows } = await db.query<RawOutcome>({
    name: `bulk_list_rows_${state}`,
    text: `with found as materialized (
             (select n, state, message_id, error_code, error_message from bulk_outcomes
               where account_id = $1 and job_id = $2 and n > $3 and state = '${state}' and not ($6 and state = 'invalid')
               order by n limit $5)
             union all
             (select r.n, null, null, null, null from bulk_rows r
               where $4 and r.account_id = $1 and r.job_id = $2 and r.n > $3
                 and r.n >= (select handed_below from bulk_jobs where account_id = $1 and id = $2)
                 and not exists (select 1 from bulk_outcomes o where o.account_id = $1 and o.job_id = $2 and o.n = r.n
                                    and not ($6 and o.state = 'invalid') offset 0)
               order by r.n limit $5)
             order by n limit $5)
           select ${COLUMNS} from (
             select f.*, r.body from found f
              cross join lateral (select b.body from bulk_rows b
                                   where b.account_id = $1 and b.job_id = $2 and b.n = f.n limit 1) r
           ) p ${FAILURE} order by p.n`,
    values: [toUuid(accountId), toUuid(id), after, unhanded, limit, ended],
  })
  return rows
}

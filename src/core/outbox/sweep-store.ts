import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'

/** Long, since no request waits for a sweep and it may have much to do. */
export const SWEEP_TIMEOUT_MS = 60_000

/**
 * Deletes provider ids of messages whose last attempt was before a time, after which no receipts come. Reads `pages`
 * pages of the table from `fromPage` on; returns whether there are more. A message id alone does not decide: it has the
 * time of the accept, which may be a year before the attempt.
 */
export async function sweepProviderRefs(
  db: Db,
  sentBeforeMs: number,
  fromPage: number,
  pages: number,
): Promise<boolean> {
  const { rows } = await db.query<{ more: boolean }>({
    name: 'sweep_provider_refs',
    timeoutMs: SWEEP_TIMEOUT_MS,
    // Walks the table's pages by ctid, since an index by age would have to be written for every message.
    text: `with gone as (
             delete from provider_refs where ctid = any (array(
               select r.ctid from provider_refs r
                where r.ctid >= format('(%s,0)', $2::bigint)::tid and r.ctid < format('(%s,0)', $3::bigint)::tid
                  and r.message_id < first_uuid_at($1)
                  -- Row by row, whatever the planner thinks: a join would read every month of messages.
                  and coalesce((select m.attempt_at from messages m
                                 where m.account_id = r.account_id and m.id = r.message_id), '-infinity') < $1)))
           select pg_relation_size('provider_refs') > $3::bigint * current_setting('block_size')::bigint as more`,
    values: [toIso(sentBeforeMs), fromPage, fromPage + pages],
  })
  return rows[0]!.more
}

/** 8 MB, about 70,000 ids. */
const PAGES_AT_ONCE = 1_000

/** Deletes the ids of all attempts before a time (ms since the epoch), a piece of the table a statement. */
export async function sweepAllProviderRefs(db: Db, sentBeforeMs: number): Promise<void> {
  for (let page = 0; await sweepProviderRefs(db, sentBeforeMs, page, PAGES_AT_ONCE); page += PAGES_AT_ONCE);
}

/** Deletes receipts parked before a time, at most `limit`, the oldest first; returns how many. */
export async function sweepParked(db: Db, receivedBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep_parked',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from parked_receipts where received_at < $1 and id = any (array(
             select id from parked_receipts order by id limit $2 for update skip locked))`,
    values: [toIso(receivedBeforeMs), limit],
  })
  return rowCount ?? 0
}

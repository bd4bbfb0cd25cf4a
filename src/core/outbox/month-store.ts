import type { Database, Db, Query } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** Tables of which whole months may go. Messages are not among them: they are the books (docs/decisions/0012). */
export type Monthly = 'events' | 'deliveries' | 'inbound_messages' | 'verifications'

/**
 * Makes the partitions of this month and the next, where they are missing. There is a month's
 * time for it: it gives up at once where a table is in use, as `dropMonth` does, and throws.
 */
export async function ensureMonths(db: Database, nowMs: number): Promise<void> {
  await withoutWaiting(db, {
    name: 'ensure_months',
    text: `select ensure_month(($1::timestamptz at time zone 'UTC')::date),
                  ensure_month((($1::timestamptz at time zone 'UTC') + interval '1 month')::date)`,
    values: [toIso(nowMs)],
  })
}

/** The partitions of months that lie wholly before a time, the oldest first. */
export async function listMonthsBefore(db: Db, table: string, beforeMs: number): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'months_before',
    text: `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$'
        and c.relname < $1 || to_char($2::timestamptz at time zone 'UTC', '_YYYY_MM')
      order by c.relname`,
    values: [table, toIso(beforeMs)],
  })
  return rows.map(row => row.name)
}

/** Whether somebody is still to be told of something in this month of deliveries. */
export async function hasPendingDeliveries(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>({
    name: `pending_in_${month}`,
    text: `select exists (select 1 from ${month} where status = 'pending') as pending`,
  })
  return rows[0]!.pending
}

/**
 * Removes a month with all that is in it. Gives up at once where the table is in use,
 * and throws. `month` is one of `listMonthsBefore`.
 */
export async function dropMonth(db: Database, month: string): Promise<void> {
  await withoutWaiting(db, { name: `drop_${month}`, text: `drop table if exists ${month}` })
}

/**
 * For what needs a whole table for a moment: while it waited for whoever reads there, a backup
 * for hours perhaps, everybody else would wait behind it.
 */
async function withoutWaiting(db: Database, query: Query): Promise<void> {
  await db.transaction(async tx => {
    await tx.query({ name: 'month_patience', text: `set local lock_timeout = '${LOCK_TIMEOUT_MS}ms'` })
    await tx.query({ ...query, timeoutMs: SWEEP_TIMEOUT_MS })
  })
}

const LOCK_TIMEOUT_MS = 100

/**
 * Removes what is older than a time and had no month to go to, because no node
 * lived to make it; at most `limit`.
 */
export async function sweepStrays(db: Db, table: Monthly, beforeMs: number, limit: number): Promise<void> {
  const ended = table === 'deliveries' ? `and status <> 'pending'` : ''
  await db.query({
    name: `sweep_strays_${table}`,
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from ${table}_other where ctid = any (array(
             select ctid from ${table}_other where id < first_uuid_at($1) ${ended} limit $2))`,
    values: [toIso(beforeMs), limit],
  })
}

import type { Database, Db, Query } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** Tables whose months retention may drop. Not messages: they are the account's books (docs/decisions/0012). */
export type Monthly = 'events' | 'deliveries' | 'inbound_messages' | 'verifications'

/**
 * Creates the partitions of this month and the next if they are missing, each in a transaction of its own. One
 * whose table is in use is not waited for, as in `dropMonth`: then this throws, after it has made the others.
 */
export async function ensureMonths(db: Database, nowMs: number): Promise<void> {
  const failures: unknown[] = []
  for (const { table, at } of await listMissing(db, nowMs)) {
    const query = {
      name: 'make_month',
      text: 'select make_month($1, $2)',
      values: [table, toIso(at.getTime())],
    }
    await withoutWaiting(db, query).catch(error => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

/** The partitions that are missing, those of this month first. */
async function listMissing(db: Db, nowMs: number): Promise<{ table: string; at: Date }[]> {
  const { rows } = await db.query<{ table: string; at: Date }>({
    name: 'months_missing',
    text: `select p.relname::text as table, m.at
             from unnest(array[$1::timestamptz, next_reset($1)]) with ordinality as m (at, n)
            cross join pg_partitioned_table t
             join pg_class p on p.oid = t.partrelid join pg_namespace s on s.oid = p.relnamespace
            where s.nspname = current_schema()
              and to_regclass(format('%I.%I', s.nspname, p.relname || to_char(m.at at time zone 'UTC', '_YYYY_MM'))) is null
            order by m.n, p.relname`,
    values: [toIso(nowMs)],
  })
  return rows
}

/** The partitions of months that end before a time, the oldest first. */
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

/** Whether this month has callbacks that are still to be delivered. */
export async function hasPendingDeliveries(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>({
    name: `pending_in_${month}`,
    text: `select exists (select 1 from ${month} where status = 'pending') as pending`,
  })
  return rows[0]!.pending
}

/** Whether events of this month are still to be delivered: without its event, a delivery is given up. */
export async function hasPendingEvents(db: Db, month: string): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>({
    name: 'pending_events',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `select exists (
             select 1 from deliveries d
              where d.status = 'pending' and d.event_id >= first_uuid_at(m.first at time zone 'UTC')
                and d.event_id < first_uuid_at((m.first + interval '1 month') at time zone 'UTC')) as pending
             from (select to_date($1, 'YYYY_MM')::timestamp as first) m`,
    values: [month.slice(-'YYYY_MM'.length)],
  })
  return rows[0]!.pending
}

/**
 * Drops a month's partition. Throws at once if the table is in use, or months are being made. `month` is
 * one of `listMonthsBefore`.
 */
export async function dropMonth(db: Database, month: string): Promise<void> {
  await withoutWaiting(db, { name: `drop_${month}`, text: `drop table if exists ${month}` })
}

/**
 * Runs a statement that needs exclusive locks on tables, and gives up after `LOCK_TIMEOUT_MS`. While it
 * waited for a reader, which may be a backup of hours, all other queries would queue behind it. One at a time, by
 * a lock of its own: making and dropping months lock the same tables in different orders.
 */
async function withoutWaiting(db: Database, query: Query): Promise<void> {
  await db.transaction(async tx => {
    await tx.query({ name: 'month_lock_timeout', text: `set local lock_timeout = '${LOCK_TIMEOUT_MS}ms'` })
    await tx.query({
      name: 'month_turn',
      text: `select pg_advisory_xact_lock(hashtext('posthorn_partitions'))`,
    })
    await tx.query({ ...query, timeoutMs: SWEEP_TIMEOUT_MS })
  })
}

const LOCK_TIMEOUT_MS = 100

/**
 * Deletes rows older than a time from the default partition, at most `limit`; as with months, nothing that is still to be
 * delivered. Rows are there if no node was running to create their month's partition.
 */
export async function sweepStrays(db: Db, table: Monthly, beforeMs: number, limit: number): Promise<void> {
  const ended = ENDED[table] ?? ''
  await db.query({
    name: `sweep_strays_${table}`,
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from ${table}_other where ctid = any (array(
             select ctid from ${table}_other where id < first_uuid_at($1) ${ended} limit $2))`,
    values: [toIso(beforeMs), limit],
  })
}

/** Conditions that rows may be deleted. */
const ENDED: Partial<Record<Monthly, string>> = {
  deliveries: `and status <> 'pending'`,
  events: `and id not in (
    select event_id from deliveries where status = 'pending' and event_id < first_uuid_at($1))`,
}

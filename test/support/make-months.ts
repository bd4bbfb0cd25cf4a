import type { Db } from '../../src/infra/db.ts'

/** Makes the partitions of these months ('2026-04'), and no others: those before or after are rows of the default partitions. */
export async function makeMonths(db: Db, ...months: readonly string[]): Promise<void> {
  await db.query({
    name: 't_make_months',
    text: `select make_month(c.relname::text, (m.month || '-01')::timestamp at time zone 'UTC')
             from pg_partitioned_table p join pg_class c on c.oid = p.partrelid cross join unnest($1::text[]) as m (month)`,
    values: [months],
  })
}

import type { Db } from '../../src/infra/db.ts'

/**
 * Turns autovacuum off for tables and their partitions, so that plans that were made for empty tables stay in use, as
 * after a restore or in a busy first hour.
 */
export async function disableAutovacuum(db: Db, tables: readonly string[]): Promise<void> {
  const named = tables.map(table => `'${table}'::regclass::oid`).join(', ')
  await db.query({
    name: 'disable_autovacuum',
    text: `do $$ declare part regclass; begin
      for part in select c.oid from pg_class c left join pg_inherits i on i.inhrelid = c.oid
                   where c.relkind = 'r' and (c.oid in (${named}) or i.inhparent in (${named})) loop
        execute format('alter table %s set (autovacuum_enabled = off)', part);
      end loop;
    end $$`,
  })
}

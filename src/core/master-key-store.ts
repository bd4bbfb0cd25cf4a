import type { Db } from '../infra/db.ts'

/** Stores a fact unless it has a value already; returns the stored value, which may be an earlier one. */
export async function storeFact(db: Db, name: string, value: Buffer): Promise<Buffer> {
  const { rows } = await db.query<{ value: Buffer }>({
    name: 'keep_fact',
    text: `insert into store_facts (name, value) values ($1, $2)
           on conflict (name) do update set value = store_facts.value
           returning value`,
    values: [name, value],
  })
  return rows[0]!.value
}

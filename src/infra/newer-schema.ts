import type { Db } from './db.ts'
import { OUR_MIGRATIONS, readMigrations } from './migrate.ts'
import { readFunctionFiles } from './migrate-functions.ts'

/**
 * Returns a check whether another version has migrated the database since this program did. It resolves with
 * the name of such a file, or null: a numbered file that is unknown here, or one of our functions with
 * another content, which may have other parameters or results. Functions that we do not have are ignored.
 */
export function createNewerSchemaCheck(db: Db, directory = OUR_MIGRATIONS): () => Promise<string | null> {
  const numbered = readMigrations(directory).map(file => file.name)
  const functions = readFunctionFiles(`${directory}/functions`)
  const values = [numbered, functions.map(file => file.name), functions.map(file => file.checksum)]
  return async () => {
    const { rows } = await db.query<{ name: string }>({
      name: 'newer_store',
      text: `select m.name from migrations m where m.name <> all ($1)
             union all
             select 'functions/' || f.name
               from migration_functions f join unnest($2::text[], $3::text[]) as ours (name, checksum) using (name)
              where f.checksum <> ours.checksum
             order by 1 limit 1`,
      values,
    })
    return rows[0]?.name ?? null
  }
}

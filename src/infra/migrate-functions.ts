import { existsSync, readdirSync } from 'node:fs'
import type { Client } from 'pg'
import { Refusal } from '../lib/refusal.ts'
import { readSqlFile, type SqlFile } from './sql-file.ts'

export type FunctionOptions = {
  directory: string
  /** The version of this program, as in 1.2.3: an older program does not change the functions of a newer one. */
  version: string
  /** Called with each file's name before it is applied. */
  onProgress?(text: string): void
}

type Stored = { name: string; checksum: string; version: string }

const FILE_NAME = /^[a-z][a-z0-9_]*\.sql$/

/**
 * Applies the SQL functions, one function per file: all files that differ from what the database has, in one
 * transaction. The caller must hold the migration lock, and have applied all numbered files. Throws a Refusal
 * if a newer program made the functions, since that program's nodes call them. Within one version every
 * difference is applied, as in development.
 * @returns the names of the applied files.
 */
export async function applyFunctions(client: Client, options: FunctionOptions): Promise<string[]> {
  const files = readFunctionFiles(options.directory)
  const changed = compare(files, await readStored(client), options.version)
  if (changed.length === 0) return []
  await inTransaction(client, async () => {
    // Functions call each other: their bodies are checked once all of them exist.
    await client.query('SET LOCAL check_function_bodies = off')
    for (const file of changed) {
      options.onProgress?.(`functions/${file.name}`)
      await named(file, () => create(client, file, options.version))
    }
    await client.query('SET LOCAL check_function_bodies = on')
    for (const file of changed) await named(file, () => check(client, file))
  })
  return changed.map(file => `functions/${file.name}`)
}

/** In the order of their names. Throws if a name is not that of a function. */
export function readFunctionFiles(directory: string): SqlFile[] {
  if (!existsSync(directory)) return []
  const names = readdirSync(directory)
    .filter(name => name.endsWith('.sql'))
    .sort()
  return names.map(name => {
    if (!FILE_NAME.test(name))
      throw new Error(`A function file must have the name of its function; ${name} does not.`)
    return readSqlFile(directory, name)
  })
}

async function readStored(client: Client): Promise<Stored[]> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS migration_functions (
       name text PRIMARY KEY,
       checksum text NOT NULL,
       version text NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  )
  const { rows } = await client.query<Stored>('SELECT name, checksum, version FROM migration_functions')
  return rows
}

function compare(files: readonly SqlFile[], stored: readonly Stored[], version: string): SqlFile[] {
  const byName = new Map(stored.map(row => [row.name, row]))
  const changed = files.filter(file => byName.get(file.name)?.checksum !== file.checksum)
  for (const file of changed) {
    const row = byName.get(file.name)
    if (row === undefined || !isNewer(row.version, version)) continue
    throw new Refusal(
      `The database was migrated by a newer Posthorn (functions/${file.name} is from ${row.version}): start that version, or restore a backup from before it.`,
    )
  }
  return changed
}

/** Compares the three numbers; ignores what follows, as in 1.0.0-rc.1. */
function isNewer(version: string, than: string): boolean {
  const numbers = (text: string) => text.split(/[^\d]/, 3).map(Number)
  const theirs = numbers(than)
  for (const [at, number] of numbers(version).entries()) {
    if (number !== theirs[at]) return number > (theirs[at] ?? 0)
  }
  return false
}

async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  try {
    await client.query('BEGIN')
    await work()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function named(file: SqlFile, work: () => Promise<void>): Promise<void> {
  await work().catch(cause => {
    throw new Refusal(
      `The migration functions/${file.name} failed and was rolled back: ${(cause as Error).message}`,
      {
        cause,
      },
    )
  })
}

async function create(client: Client, file: SqlFile, version: string): Promise<void> {
  await client.query(file.text)
  await client.query(
    `INSERT INTO migration_functions (name, checksum, version) VALUES ($1, $2, $3)
       ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, version = excluded.version, applied_at = now()`,
    [file.name, file.checksum, version],
  )
}

async function check(client: Client, file: SqlFile): Promise<void> {
  const { rows } = await client.query<{ oid: number; language: string }>(
    `SELECT p.oid, l.lanname AS language
       FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE p.proname = $1 AND n.nspname = current_schema()`,
    [file.name.slice(0, -'.sql'.length)],
  )
  if (rows.length !== 1) throw new Error('the file must create exactly the function that it is named after')
  const { oid, language } = rows[0]!
  await client.query(`SELECT ${language === 'plpgsql' ? 'plpgsql_validator' : 'fmgr_sql_validator'}($1)`, [
    oid,
  ])
}

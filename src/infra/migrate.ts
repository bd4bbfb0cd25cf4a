import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { MINUTE_MS } from '../lib/durations.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Database } from './db.ts'
import { applyFunctions } from './migrate-functions.ts'
import { SETTINGS } from './session-settings.ts'
import { readSqlFile, type SqlFile } from './sql-file.ts'

export type MigrateOptions = {
  /** The version of this program, as in 1.2.3. */
  version: string
  /** The directory of the numbered files, with the files of the functions in `functions/`; ours by default. */
  directory?: string
  /** Called with each file's name before it is applied, and when another node is migrating. */
  onProgress?(text: string): void
  /** Ends the wait for another node; a migration that has begun is never interrupted. */
  signal?: AbortSignal
}

type Applied = { name: string; checksum: string }

export const OUR_MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/
/** An arbitrary constant, which must not change: all nodes use the same lock. */
const MIGRATION_LOCK = 7_076_840
/** Another node's migration of a large database may take long; after this time it counts as stuck. */
const LOCK_LIMIT_MS = 30 * MINUTE_MS
const OLDEST_VERSION = 15
const NEWEST_VERSION = 18

/**
 * Brings the store up to date: applies in order the files that it does not have
 * yet, each in a transaction of its own, and then the functions' files that
 * changed. Nodes that start at once wait for each other. Refuses a server of an
 * unknown version, one that cannot keep all letters, a store that is newer than this program, and one that has a
 * different version of a numbered file.
 * @returns the names of the files it applied.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<string[]> {
  const directory = options.directory ?? OUR_MIGRATIONS
  const migrations = readMigrations(directory)
  const client = await database.dedicated()
  client.on('error', () => {})
  try {
    await checkServer(client)
    await checkSession(client, database)
    // Only PostgreSQL 17 and newer have this setting.
    await client.query(
      `SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`,
    )
    await useOwnSchema(client)
    await takeLock(client, options)
    const applied = await readApplied(client)
    const pending = compare(migrations, applied)
    for (const migration of pending) {
      options.onProgress?.(migration.name)
      await apply(client, migration)
    }
    const functions = await applyFunctions(client, { ...options, directory: `${directory}/functions` })
    return [...pending.map(migration => migration.name), ...functions]
  } catch (error) {
    throw asRefusal(error)
  } finally {
    // Closing the connection releases the lock.
    await client.end().catch(() => {})
  }
}

/** In their order. Throws if a number is missing or doubled. */
export function readMigrations(directory: string): SqlFile[] {
  const names = readdirSync(directory)
    .filter(name => name.endsWith('.sql'))
    .sort()
  return names.map((name, at) => {
    if (!FILE_NAME.test(name) || Number(name.slice(0, 4)) !== at + 1) {
      throw new Error(`Migrations must be numbered without a gap, such as 0001_name.sql; ${name} is not.`)
    }
    return readSqlFile(directory, name)
  })
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name,
            current_setting('server_encoding') AS encoding`,
  )
  const { number, name, encoding } = rows[0]!
  const major = Math.floor(Number(number) / 10_000)
  if (major < OLDEST_VERSION || major > NEWEST_VERSION) {
    throw new Refusal(
      `The server of DATABASE_URL is PostgreSQL ${name}; Posthorn needs PostgreSQL ${OLDEST_VERSION} to ${NEWEST_VERSION}.`,
    )
  }
  // Other encodings cannot store most texts. SQL_ASCII, the default on a machine without a locale, stores
  // bytes unchanged, and ours are UTF-8.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    throw new Refusal(
      `The database of DATABASE_URL has the encoding ${encoding}; Posthorn needs UTF8: create one with ENCODING 'UTF8' TEMPLATE template0.`,
    )
  }
}

/**
 * Detects a connection pooler that breaks sessions. A pooler per transaction loses prepared statements,
 * advisory locks and LISTEN, mostly silently: revoked keys would stay valid. A pooler that drops our session
 * settings leaves those of the role, which may differ.
 */
async function checkSession(client: Client, database: Database): Promise<void> {
  const other = await database.dedicated()
  try {
    const asked: number[] = []
    for (const each of [client, other, client, other]) asked.push(await sessionOf(each))
    const [first, second, third, fourth] = asked
    if (first === second || first !== third || second !== fourth) {
      throw new Refusal(
        'A proxy between Posthorn and the database of DATABASE_URL uses transaction pooling, which Posthorn does not support: set DATABASE_URL to the server itself, or to a port of the proxy with session pooling.',
      )
    }
  } finally {
    await other.end().catch(() => {})
  }
  const { rows } = await client.query<{ missing: string | null }>(
    `SELECT string_agg(format('ALTER ROLE %I SET %s = %L', current_user, name, value), '; ' ORDER BY at) AS missing
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (name, value, at)
      WHERE split_part(current_setting(name), ',', 1) <> value`,
    [SETTINGS.map(([name]) => name), SETTINGS.map(([, value]) => value)],
  )
  const { missing } = rows[0]!
  if (missing !== null) {
    throw new Refusal(
      `A proxy between Posthorn and the database of DATABASE_URL discards the connection settings that Posthorn needs: set them on the role, and have the proxy open new connections, as RECONNECT in PgBouncer's console does: ${missing}.`,
    )
  }
}

async function sessionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]!.pid
}

/**
 * Only the first schema of the search_path is ours. Another one may belong to another Posthorn, whose functions
 * would be dropped, and whose tables taken for ours.
 */
async function useOwnSchema(client: Client): Promise<void> {
  await client.query(
    `SELECT set_config('search_path', quote_ident(current_schema()), false) WHERE current_schema() IS NOT NULL`,
  )
}

async function takeLock(client: Client, options: MigrateOptions): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    MIGRATION_LOCK,
  ])
  if (rows[0]!.taken) return
  options.onProgress?.('waiting for another node that migrates')
  await client.query(`SET lock_timeout = ${LOCK_LIMIT_MS}`)
  const giveUp = () => void client.end().catch(() => {})
  options.signal?.addEventListener('abort', giveUp)
  try {
    options.signal?.throwIfAborted()
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error
  } finally {
    options.signal?.removeEventListener('abort', giveUp)
  }
  await client.query('RESET lock_timeout')
}

/**
 * Advice by SQLSTATE, for when we may not create tables: the role lacks the right, there is no schema, or the
 * server is read-only.
 */
const ADVICE: Record<string, string> = {
  '42501': 'let the role create tables in its database, or make it the owner',
  '3F000': 'let the role create tables in its database, or make it the owner',
  '25006': 'name the server that takes writes, or lift default_transaction_read_only',
}

function asRefusal(cause: unknown): unknown {
  const { code = '', message } = cause as { code?: string; message: string }
  const advice = ADVICE[code]
  if (advice === undefined) return cause
  return new Refusal(`The database of DATABASE_URL cannot be migrated: ${message}: ${advice}.`, { cause })
}

async function readApplied(client: Client): Promise<Applied[]> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS migrations (
       name text PRIMARY KEY,
       checksum text NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  )
  const { rows } = await client.query<Applied>('SELECT name, checksum FROM migrations ORDER BY name')
  return rows
}

/** The migrations that are to be applied. Those of the database must be the first ones of our list. */
function compare(migrations: SqlFile[], applied: Applied[]): SqlFile[] {
  for (const [at, row] of applied.entries()) {
    const ours = migrations[at]
    if (ours?.name !== row.name) {
      throw new Refusal(
        `The database was migrated by a newer Posthorn (it has ${row.name}): start that version, or restore a backup from before it.`,
      )
    }
    if (ours.checksum !== row.checksum) {
      throw new Refusal(
        `The migration ${row.name} differs from the one that was applied to this database: restore the original file.`,
      )
    }
  }
  return migrations.slice(applied.length)
}

async function apply(client: Client, migration: SqlFile): Promise<void> {
  try {
    await client.query('BEGIN')
    await client.query(migration.text)
    await client.query('INSERT INTO migrations (name, checksum) VALUES ($1, $2)', [
      migration.name,
      migration.checksum,
    ])
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {})
    throw new Refusal(
      `The migration ${migration.name} failed and was rolled back: ${(cause as Error).message}`,
      {
        cause,
      },
    )
  }
}

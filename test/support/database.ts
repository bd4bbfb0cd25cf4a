import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { createDatabase, type Database } from '../../src/infra/db.ts'

export type TestDatabase = {
  /** Its connection string, for a process of its own. */
  url: string
  db: Database
  /** Closes the pool and drops the database, with all remaining connections. */
  drop(): Promise<void>
}

/** An available database answers eventually, however slow the machine. */
export const UNHURRIED = { connectTimeoutMs: 20_000, queryTimeoutMs: 20_000 }

/**
 * Whether the server is older than this major version. The limits on what a plan reads are those of the embedded
 * one: in places older planners read more (docs/decisions/0032).
 */
export function isServerBefore(major: number): boolean {
  return inject('serverMajor') < major
}

/** An arbitrary constant: a template can be copied by only one session at a time. */
const COPY_LOCK = 1_234_567

/** Creates a migrated database for the caller, copied from the run's template. */
export function createTestDatabase(): Promise<TestDatabase> {
  // Copying files is faster than logging every page in the WAL; a test database need not survive a crash
  // during its creation.
  return create(`TEMPLATE ${inject('templateDatabase')} STRATEGY FILE_COPY`)
}

/** Creates a database without tables, for tests of what creates them. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('TEMPLATE template0 STRATEGY FILE_COPY')
}

async function create(source: string): Promise<TestDatabase> {
  const name = `posthorn_test_${randomBytes(8).toString('hex')}`
  await asServer(async client => {
    // The lock is released with the connection, after the copy.
    await client.query('SELECT pg_advisory_lock($1)', [COPY_LOCK])
    await client.query(`CREATE DATABASE ${name} ${source}`)
  })
  const url = new URL(inject('serverUrl'))
  url.pathname = `/${name}`
  const db = createDatabase({ connectionString: url.href, ...UNHURRIED })
  return {
    url: url.href,
    db,
    async drop() {
      await db.close()
      await asServer(client => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

async function asServer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('serverUrl') })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

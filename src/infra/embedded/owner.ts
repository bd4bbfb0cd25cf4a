import pg from 'pg'
import { Refusal } from '../../lib/refusal.ts'
import { isConnectionLoss } from '../db.ts'
import { ROLE } from './cluster.ts'

export const DATABASE = 'posthorn'
/** Of the advisory lock that says whose the server is: any constant that stays. */
const OWNER_LOCK = 7_076_839
/** A killed owner's connection is gone within milliseconds; two seconds are plenty. */
const OWNER_WAIT_MS = 2_000
const CONNECT_TIMEOUT_MS = 5_000

/** The data directory belongs to another running Posthorn. */
export class InUse extends Refusal {}

/** A connection string for the server whose socket is in `socketDir`. */
export function urlOf(socketDir: string, database: string = DATABASE): string {
  return `postgresql://${ROLE}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
}

/** Tries once to connect, and says why when it cannot: the server may still be on its way. */
export async function connect(socketDir: string): Promise<pg.Client | 'starting' | 'recovering'> {
  const client = new pg.Client({
    connectionString: urlOf(socketDir, 'postgres'),
    application_name: `posthorn owner ${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // Without a listener a connection lost between two queries would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    // 57P03: not yet accepting connections; recovery says so, and so does a server that shuts down.
    return /recovery|not yet accepting/.test((error as Error).message) ? 'recovering' : 'starting'
  }
}

/**
 * Takes the lock that makes this process the server's owner, for as long as the
 * connection lives: a killed process loses it at once, whatever pid comes next.
 * Undefined when the server went away meanwhile, stopped by the owner before us.
 * Throws InUse when another process keeps it.
 */
export async function becomeOwner(client: pg.Client, dataDir: string): Promise<pg.Client | undefined> {
  try {
    await client.query(`SET lock_timeout = ${OWNER_WAIT_MS}`)
    await client.query('SELECT pg_advisory_lock($1)', [OWNER_LOCK])
    return client
  } catch (error) {
    const refusal = isLockTimeout(error) ? await inUse(client, dataDir) : error
    await client.end().catch(() => {})
    if (isConnectionLoss(refusal)) return undefined
    throw refusal
  }
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03'
}

async function inUse(client: pg.Client, dataDir: string): Promise<InUse> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT a.application_name AS name
     FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.objid = $1`,
    [OWNER_LOCK],
  )
  const pid = /\d+$/.exec(rows[0]?.name ?? '')?.[0]
  return new InUse(
    `Another Posthorn${pid ? ` (process ${pid})` : ''} already runs on ${dataDir}: stop it first, or give this one its own POSTHORN_DATA_DIR.`,
  )
}

/** Creates the database `posthorn` where it is missing. */
export async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
  if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
}

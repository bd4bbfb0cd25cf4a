import pg from 'pg'
import { Refusal } from '../../lib/refusal.ts'
import { isConnectionLoss } from '../db.ts'
import { ROLE } from './cluster.ts'
import { isFinalRefusal } from './damage.ts'

export const DATABASE = 'posthorn'
/** The advisory lock of the server's owner: an arbitrary constant, which must not change. */
const OWNER_LOCK = 7_076_839
/** Wait for the lock: the connection of a killed owner is gone within milliseconds. */
const OWNER_WAIT_MS = 2_000
const CONNECT_TIMEOUT_MS = 5_000

/** The data directory belongs to another running Posthorn. */
export class InUse extends Refusal {}

/** The connection string of the server whose socket is in `socketDir`. */
export function urlOf(socketDir: string, database: string = DATABASE): string {
  return `postgresql://${ROLE}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
}

/** Tries once to connect; returns the reason if the server is not ready, and the error if it never will be. */
export async function connect(
  socketDir: string,
  database = 'postgres',
): Promise<pg.Client | 'starting' | 'recovering' | Error> {
  const client = new pg.Client({
    connectionString: urlOf(socketDir, database),
    application_name: `posthorn owner ${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // Without a listener, a connection that is lost between two queries would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    if (isFinalRefusal(error)) return error
    // Both texts come with 57P03, during recovery, and also from a server that shuts down.
    return /recovery|not yet accepting/.test((error as Error).message) ? 'recovering' : 'starting'
  }
}

/**
 * Takes the advisory lock that makes this process the server's owner while the connection lives: a killed
 * process loses it at once, even if its pid is reused. Undefined if the server went away meanwhile, stopped
 * by its previous owner. Throws InUse if another process keeps the lock.
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

/** Creates the database `posthorn` where it is missing. Throws the server's error if it cannot be used. */
export async function ensureDatabase(client: pg.Client, socketDir: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
  if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  const tried = await connect(socketDir, DATABASE)
  if (tried instanceof Error) throw tried
  if (typeof tried !== 'string') await tried.end()
}

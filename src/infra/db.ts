import pg from 'pg'

/** Anything that answers a query: the pool, or the one client of a transaction. */
export type Db = {
  query<R extends object = Record<string, unknown>>(
    query: Query,
  ): Promise<{ rows: R[]; rowCount: number | null }>
}

/** A named statement is prepared once per connection; every query of ours has a name. */
export type Query = { name: string; text: string; values?: readonly unknown[] }

export type Database = Db & {
  /** One transaction; rolled back when `work` throws. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** A connection of its own, outside the pool, for LISTEN and advisory locks. */
  dedicated(): Promise<pg.Client>
  close(): Promise<void>
}
export type DatabaseOptions = {
  connectionString: string
  /** Connections in the pool. */
  poolSize?: number
  /** How long a caller waits for a connection, in ms. */
  connectTimeoutMs?: number
  onIdleError?: (error: Error) => void
}

// Money and counters are int8 within 2^53; a string would poison arithmetic.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/** Opens a pool; connects on first use. */
export function createDatabase(options: DatabaseOptions): Database {
  const connection = { connectionString: options.connectionString, types, application_name: 'posthorn' }
  const pool = new pg.Pool({
    ...connection,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3_000,
    keepAlive: true,
  })
  pool.on('error', error => options.onIdleError?.(error))

  return {
    query: query => ask(pool, query),
    async transaction(work) {
      const client = await pool.connect().catch(asUnavailable)
      let broken: Error | undefined
      try {
        await client.query('BEGIN')
        const result = await work({ query: query => ask(client, query) })
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK').catch(rollback => {
          broken = rollback as Error
        })
        return asUnavailable(error)
      } finally {
        client.release(broken)
      }
    },
    async dedicated() {
      const client = new pg.Client({
        ...connection,
        connectionTimeoutMillis: options.connectTimeoutMs ?? 3_000,
      })
      await client.connect()
      return client
    },
    close: () => pool.end(),
  }
}

async function ask(target: pg.Pool | pg.PoolClient, query: Query) {
  try {
    // pg mutates nothing here; its type merely forgets that values may be readonly.
    return (await target.query(query as pg.QueryConfig)) as never
  } catch (error) {
    return asUnavailable(error)
  }
}

/** The database cannot be reached, or went away during the work; on the wire a 503. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('The database cannot be reached.', { cause })
    this.name = 'DatabaseUnavailable'
  }
}

/** A lost connection gets its own class; other errors stay themselves. */
function asUnavailable(error: unknown): never {
  throw isConnectionLoss(error) ? new DatabaseUnavailable(error) : error
}

/** SQLSTATE classes 08 (connection), 57P (shutdown), 53 (resources), and the driver's own errors. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    if (/^(08|57P0[1-3]|53)/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENOTFOUND)/.test(code)) return true
  }
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed/.test(
    error.message,
  )
}

import pg from 'pg'
import { systemClock } from '../lib/clock.ts'
import { parseExactly } from '../lib/exact-numbers.ts'
import { copyIn } from './copy-in.ts'
import { withSessionSettings } from './session-settings.ts'

/** Anything that runs queries: the pool, or the client of a transaction. */
export type Db = {
  query<R extends object = Record<string, unknown>>(
    query: Query,
  ): Promise<{ rows: R[]; rowCount: number | null }>
}

/** A query. Named statements are prepared once per connection; all of our queries have names. */
export type Query = {
  name: string
  text: string
  values?: readonly unknown[]
  /** Time limit for the answer, in ms, if the default does not fit. */
  timeoutMs?: number
}

export type Database = Db & {
  /** Runs `work` in a transaction, which is rolled back if it throws. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** `COPY … FROM STDIN` with all of its data, in a transaction of its own. */
  copy(text: string, data: Buffer): Promise<void>
  /** Opens a connection outside the pool and without time-outs, for LISTEN, advisory locks and migrations. */
  dedicated(): Promise<pg.Client>
  /** Fails the statements that were given more time than usual, now and from now on: a stop cannot wait for them. */
  endLongWaits(): void
  close(): Promise<void>
}
export type DatabaseOptions = {
  connectionString: string
  /** Connections in the pool. */
  poolSize?: number
  /** How long a caller waits for a connection, in ms. */
  connectTimeoutMs?: number
  /** How long a caller waits for an answer, in ms, unless the query says otherwise. */
  queryTimeoutMs?: number
  onIdleError?: (error: Error) => void
}

/** The code of PostgreSQL's error. */
export const UNIQUE_VIOLATION = '23505'

/** A caller gets an answer or an error within six seconds: two for a connection, four for an answer. */
const CONNECT_TIMEOUT_MS = 2_000
const QUERY_TIMEOUT_MS = 4_000
/** The server's own limits: it ends statements that no caller waits for any more, and so releases their locks. */
export const STATEMENT_TIMEOUT_MS = 60_000
const LOCK_TIMEOUT_MS = 3_500
const IDLE_IN_TRANSACTION_MS = 15_000

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  // Amounts and counters are int8 below 2^53. The driver would return strings, which break arithmetic.
  [pg.types.builtins.INT8, Number],
  // The users' own JSON is returned with all digits of its numbers. What we write has none that a double loses.
  [pg.types.builtins.JSON, parseExactly],
])

/**
 * Opens a pool; connects at first use. If the database hangs or a connection is dead, callers get
 * DatabaseUnavailable after the time-out; they get it too for errors after which the same work may succeed
 * (deadlocks, lock time-outs, failover).
 */
export function createDatabase(options: DatabaseOptions): Database {
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS
  const connection = { types, application_name: 'posthorn' }
  let pool = openPool()
  /** Replaced pools, until their last connection is closed. */
  const retired = new Set<Promise<void>>()
  /** Counts the server's answers, including errors: they show that the server is there. */
  let answers = 0
  /** What ends the waits of statements with a longer time limit. */
  const longWaits = new Set<() => void>()
  let isImpatient = false
  let closed = false

  function openPool(): pg.Pool {
    const opened = new pg.Pool({
      ...connection,
      connectionString: withSessionSettings(options.connectionString),
      max: options.poolSize ?? 10,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
    })
    opened.on('error', error => options.onIdleError?.(error))
    // A connection that is lost between two statements of a transaction emits `error`, which would end the
    // process without a listener. The next statement fails anyway.
    opened.on('connect', client => client.on('error', () => {}))
    return opened
  }

  /**
   * After a time-out during which no query was answered, the pool's other connections are most likely dead
   * too: the pool is replaced, since to find that out one by one would take a time-out each.
   */
  function recordFailure(error: unknown, of: pg.Pool, answersBefore: number): void {
    if (!isQueryTimeout(error)) {
      answers++
      return
    }
    if (closed || answers !== answersBefore || of !== pool) return
    pool = openPool()
    const ended = of.end().finally(() => retired.delete(ended))
    retired.add(ended)
  }

  /** Runs a query on a connection of the pool, or on `client` if given. */
  async function runQuery(query: Query, of: pg.Pool, client?: pg.PoolClient): Promise<never> {
    const answersBefore = answers
    try {
      const result = await (client ? queryClient(query, client) : queryPool(query, of))
      answers++
      return result as never
    } catch (error) {
      recordFailure(error, of, answersBefore)
      return asUnavailable(error)
    }
  }

  function queryPool(query: Query, of: pg.Pool): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      of.connect((failed, client, release) => {
        if (!client) return reject(unreachable(failed))
        queryClient(query, client).then(
          result => {
            release()
            resolve(result)
          },
          error => {
            // As `pool.query` does: a connection on which a statement failed is closed.
            release(error)
            reject(error)
          },
        )
      })
    })
  }

  function queryClient(
    { timeoutMs = queryTimeoutMs, ...query }: Query,
    client: pg.PoolClient,
  ): Promise<pg.QueryResult> {
    const send = (callback: unknown) => client.query({ ...query, callback } as never)
    if (timeoutMs <= queryTimeoutMs) return withTimeout(timeoutMs, send)
    return withTimeout(isImpatient ? queryTimeoutMs : timeoutMs, send, longWaits)
  }

  async function transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const of = pool
    const client = await of.connect().catch(notConnected)
    let broken: Error | undefined
    const control = { query: (text: string) => runQuery({ name: `tx_${text}`, text }, of, client) }
    try {
      await control.query('BEGIN')
      const result = await work({ query: query => runQuery(query, of, client) })
      await control.query('COMMIT')
      return result
    } catch (error) {
      // A connection that was lost, or has an unanswered statement, gets no ROLLBACK: it is closed.
      if (error instanceof DatabaseUnavailable) broken = error
      else await control.query('ROLLBACK').catch(rollback => (broken = rollback as Error))
      throw error
    } finally {
      client.release(broken)
    }
  }

  async function copy(text: string, data: Buffer): Promise<void> {
    const of = pool
    const client = await of.connect().catch(notConnected)
    const answersBefore = answers
    let broken: Error | undefined
    try {
      await withTimeout<void>(queryTimeoutMs, done => client.query(copyIn(text, data, error => done(error))))
      answers++
    } catch (error) {
      recordFailure(error, of, answersBefore)
      if (isConnectionLoss(error)) broken = error as Error
      return asUnavailable(error)
    } finally {
      client.release(broken)
    }
  }

  return {
    query: query => runQuery(query, pool),
    transaction,
    copy,
    async dedicated() {
      const client = new pg.Client({
        ...connection,
        connectionString: withSessionSettings(options.connectionString, { patient: true }),
        connectionTimeoutMillis: connectTimeoutMs,
      })
      // The server may end the connection before the caller can add its own listener. The caller learns of
      // that by the `end` event or its next query.
      client.on('error', () => {})
      await client.connect()
      return client
    },
    endLongWaits() {
      isImpatient = true
      for (const end of longWaits) end()
    },
    async close() {
      closed = true
      await Promise.all([pool.end(), ...retired])
    },
  }
}

/**
 * Waits for the callback, up to a time-out, or until the function that is put into `waits` meanwhile is called. The driver's own time-out is not used: it replaces the callback
 * of the query object, which keeps the results in memory until the next full collection.
 */
function withTimeout<T>(
  timeoutMs: number,
  send: (done: (error: Error | null, result: T) => void) => void,
  waits?: Set<() => void>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = systemClock.after(timeoutMs, giveUp)
    waits?.add(giveUp)
    function giveUp(): void {
      waits?.delete(giveUp)
      cancel()
      reject(new Error(QUERY_TIMEOUT_MESSAGE))
    }
    send((error, result) => {
      waits?.delete(giveUp)
      cancel()
      if (error) reject(error)
      else resolve(result)
    })
  })
}

/**
 * The database cannot be reached, went away during the work, or asks for the work to be repeated. The API
 * answers 503.
 */
export class DatabaseUnavailable extends Error {
  /** False if there was no connection, so that the statement was not sent. */
  readonly wasSent: boolean

  constructor(cause: unknown, { wasSent = true } = {}) {
    super('The database cannot be reached.', { cause })
    this.name = 'DatabaseUnavailable'
    this.wasSent = wasSent
  }
}

/** Whether the statement may have been executed although it failed. */
export function mayHaveBeenExecuted({ wasSent, cause }: DatabaseUnavailable): boolean {
  return wasSent && !isRefusal((cause as { code?: string } | null)?.code) && !isOutdatedPlan(cause)
}

/**
 * Any error while connecting: the server is away, the role is refused (as while its password is changed), no
 * file descriptor is left. The query is not the cause.
 */
function notConnected(cause: unknown): never {
  throw unreachable(cause)
}

function unreachable(cause: unknown): DatabaseUnavailable {
  return new DatabaseUnavailable(cause, { wasSent: false })
}

/** Throws DatabaseUnavailable for a lost connection or a repeatable error; rethrows other errors. */
function asUnavailable(error: unknown): never {
  throw isConnectionLoss(error) || isRepeatable(error) ? new DatabaseUnavailable(error) : error
}

/**
 * SQLSTATE classes 08 (connection), 57P (shutdown) and 53 (resources), a transaction whose session was ended
 * by a time-out, and errors of the driver and the network.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    if (/^(08|57P0[1-5]|53|25P0[34])/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
  }
  return (
    isQueryTimeout(error) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed/.test(
      error.message,
    )
  )
}

/** Whether it is our time-out. */
function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === QUERY_TIMEOUT_MESSAGE
}

const QUERY_TIMEOUT_MESSAGE = 'the database did not answer in time'

/**
 * Whether the server certainly undid the statement, or refused it before it ran (starting up, too many
 * connections).
 */
function isRefusal(code: string | undefined): boolean {
  return code !== undefined && (/^(57P03|53300)$/.test(code) || REPEATABLE.test(code))
}

/** Deadlock, serialization failure, lock or statement time-out, and a read-only server, as during a failover. */
const REPEATABLE = /^(40P01|40001|55P03|57014|25006)$/

function isRepeatable(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && (REPEATABLE.test(code) || isOutdatedPlan(error))
}

/**
 * A migration has added a column to a table since this connection prepared the statement; the next connection
 * prepares it again. The SQLSTATE is that of all unsupported features, and the text is translated, so the
 * routine decides.
 */
function isOutdatedPlan(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

import pg from 'pg'
import { systemClock } from '../lib/clock.ts'
import { copyIn } from './copy-in.ts'
import { withSessionSettings } from './session-settings.ts'

/** Anything that answers a query: the pool, or the one client of a transaction. */
export type Db = {
  query<R extends object = Record<string, unknown>>(
    query: Query,
  ): Promise<{ rows: R[]; rowCount: number | null }>
}

/** A named statement is prepared once per connection; every query of ours has a name. */
export type Query = {
  name: string
  text: string
  values?: readonly unknown[]
  /** Longest wait for the answer, in ms, where the database's own default does not fit. */
  timeoutMs?: number
}

export type Database = Db & {
  /** One transaction; rolled back when `work` throws. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** `COPY … FROM STDIN` with all of its data, as a transaction of its own. */
  copy(text: string, data: Buffer): Promise<void>
  /** A connection of its own, outside the pool and without time-outs, for LISTEN, advisory locks and migrations. */
  dedicated(): Promise<pg.Client>
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

/** A caller hears within five seconds: two for a connection, or four for an answer. */
const CONNECT_TIMEOUT_MS = 2_000
const QUERY_TIMEOUT_MS = 4_000
/** The server's side of it: what nobody waits for any more ends, and lets go of its locks. */
export const STATEMENT_TIMEOUT_MS = 60_000
const LOCK_TIMEOUT_MS = 3_500
const IDLE_IN_TRANSACTION_MS = 15_000

// Money and counters are int8 within 2^53; a string would poison arithmetic.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/**
 * Opens a pool; connects on first use. No caller waits longer than its time-out
 * for a database that hangs or a connection that is dead in the middle: it gets
 * DatabaseUnavailable, and so it does for what is worth repeating as it stands.
 */
export function createDatabase(options: DatabaseOptions): Database {
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS
  const connection = { types, application_name: 'posthorn' }
  let pool = openPool()
  /** Pools that were given up, until the last of their connections is gone. */
  const retired = new Set<Promise<void>>()
  /** Whatever the server said, refusals included: it shows that the server is there. */
  let answers = 0
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
    // One that is lost between two statements of a transaction: the next one says so, and nobody else listens.
    opened.on('connect', client => client.on('error', () => {}))
    return opened
  }

  /**
   * After a silence in which nobody was answered, the other connections are as
   * dead: to find that out one by one would take a time-out each.
   */
  function noteFailure(error: unknown, of: pg.Pool, answersBefore: number): void {
    if (!isSilence(error)) {
      answers++
      return
    }
    if (closed || answers !== answersBefore || of !== pool) return
    pool = openPool()
    const ended = of.end().finally(() => retired.delete(ended))
    retired.add(ended)
  }

  /** On a connection of the pool, or on the one that is the caller's. */
  async function ask(query: Query, of: pg.Pool, client?: pg.PoolClient): Promise<never> {
    const answersBefore = answers
    try {
      const result = await (client ? askClient(query, client) : askPool(query, of))
      answers++
      return result as never
    } catch (error) {
      noteFailure(error, of, answersBefore)
      return asUnavailable(error)
    }
  }

  function askPool(query: Query, of: pg.Pool): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      of.connect((failed, client, release) => {
        if (!client) return reject(unreached(failed))
        askClient(query, client).then(
          result => {
            release()
            resolve(result)
          },
          error => {
            // As the pool itself does with a connection on which a statement failed.
            release(error)
            reject(error)
          },
        )
      })
    })
  }

  function askClient({ timeoutMs, ...query }: Query, client: pg.PoolClient): Promise<pg.QueryResult> {
    return answerInTime(timeoutMs ?? queryTimeoutMs, callback =>
      client.query({ ...query, callback } as never),
    )
  }

  async function transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const of = pool
    const client = await of.connect().catch(notConnected)
    let broken: Error | undefined
    const control = { query: (text: string) => ask({ name: `tx_${text}`, text }, of, client) }
    try {
      await control.query('BEGIN')
      const result = await work({ query: query => ask(query, of, client) })
      await control.query('COMMIT')
      return result
    } catch (error) {
      // A lost connection, or one that left a statement unanswered, takes no ROLLBACK: it is closed.
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
      await answerInTime<void>(queryTimeoutMs, done => client.query(copyIn(text, data, error => done(error))))
      answers++
    } catch (error) {
      noteFailure(error, of, answersBefore)
      if (isConnectionLoss(error)) broken = error as Error
      return asUnavailable(error)
    } finally {
      client.release(broken)
    }
  }

  return {
    query: query => ask(query, pool),
    transaction,
    copy,
    async dedicated() {
      const client = new pg.Client({
        ...connection,
        connectionString: withSessionSettings(options.connectionString, { patient: true }),
        connectionTimeoutMillis: connectTimeoutMs,
      })
      // The server's goodbye may come in one piece with its greeting, before the caller can listen, who hears of the end.
      client.on('error', () => {})
      await client.connect()
      return client
    },
    async close() {
      closed = true
      await Promise.all([pool.end(), ...retired])
    },
  }
}

/**
 * What a client calls back with, if it does so in time. The driver has a time-out too, but sets another
 * callback into a query that is made: whatever such queries bring is kept until the next full collection.
 */
function answerInTime<T>(
  timeoutMs: number,
  send: (done: (error: Error | null, result: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = systemClock.after(timeoutMs, () => reject(new Error(SILENCE)))
    send((error, result) => {
      cancel()
      if (error) reject(error)
      else resolve(result)
    })
  })
}

/**
 * The database cannot be reached, went away during the work, or asks for the
 * work to be repeated; on the wire a 503.
 */
export class DatabaseUnavailable extends Error {
  /** False where there was no connection to ask on. */
  readonly asked: boolean

  constructor(cause: unknown, { asked = true } = {}) {
    super('The database cannot be reached.', { cause })
    this.name = 'DatabaseUnavailable'
    this.asked = asked
  }
}

/** Whether the statement may have been carried out although it failed. */
export function mayHaveBeenDone({ asked, cause }: DatabaseUnavailable): boolean {
  return asked && !isRefusal((cause as { code?: string } | null)?.code) && !isOutdatedPlan(cause)
}

/**
 * Whatever stands in the way of a connection: a server that is away, a role that may not come in as while its
 * password is changed, no file left to open. Nobody's work is at fault.
 */
function notConnected(cause: unknown): never {
  throw unreached(cause)
}

function unreached(cause: unknown): DatabaseUnavailable {
  return new DatabaseUnavailable(cause, { asked: false })
}

/** A lost connection gets its own class; other errors stay themselves. */
function asUnavailable(error: unknown): never {
  throw isConnectionLoss(error) || isWorthRepeating(error) ? new DatabaseUnavailable(error) : error
}

/** SQLSTATE classes 08 (connection), 57P (shutdown), 53 (resources), a transaction that was cut with its session, and the driver's own errors. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    if (/^(08|57P0[1-5]|53|25P0[34])/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
  }
  return (
    isSilence(error) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed/.test(
      error.message,
    )
  )
}

/** Nobody answered in time. */
function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === SILENCE
}

const SILENCE = 'the database did not answer in time'

/** The server answered and undid everything: before the statement (starting up, too many connections), or for a lock. */
function isRefusal(code: string | undefined): boolean {
  return code !== undefined && (/^(57P03|53300)$/.test(code) || REPEATABLE.test(code))
}

/** Deadlock, serialization, lock or statement time-out, and a server that only reads, as during a failover. */
const REPEATABLE = /^(40P01|40001|55P03|57014|25006)$/

function isWorthRepeating(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && (REPEATABLE.test(code) || isOutdatedPlan(error))
}

/**
 * A migration has given a table another column since this connection prepared the statement: the next
 * connection prepares it anew. The code is that of whatever is not supported, and the text is translated.
 */
function isOutdatedPlan(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { Message, MessageWithTimeline } from '../../src/contract/message.ts'
import type { SandboxMessage } from '../../src/contract/sandbox.ts'
import type { ConsoleFiles } from '../../src/infra/console-files.ts'
import type { Database } from '../../src/infra/db.ts'
import type { FileStore } from '../../src/infra/file-store.ts'
import { createLog, type LogLevel } from '../../src/infra/log.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { toUuid } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase, UNHURRIED } from './database.ts'
import { createFakeClock, type FakeClock, turn } from './fake-clock.ts'
import { lookUntil } from './look-until.ts'
import { silentProgress } from './silent-progress.ts'
import { countRequests, giveUpRequests, watchQueries } from './unanswered.ts'

/** The response to one request. */
export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> }

export type Request = {
  method?: string
  key?: string | null
  headers?: Record<string, string>
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  body?: unknown
}

export type TestAccount = {
  id: string
  liveKey: string
  testKey: string
  /** `POST /api/v2/messages/send` with the test key, or the live one. */
  send(body: unknown, options?: SendOptions): Promise<Answer>
  /** A GET with the test key; returns `data` of the response, which must be a 200. */
  read<T = Record<string, unknown>>(path: string): Promise<T>
  message(messageId: string): Promise<MessageWithTimeline>
  messages(query?: string): Promise<Message[]>
  inbox(to?: string): Promise<SandboxMessage[]>
  wallet(): Promise<{ balance: number; held: number; captured: number; credited: number; currency: string }>
  /** The account's rows in the database, and its money. */
  footprint(): Promise<Footprint>
}

export type SendOptions = { live?: boolean; idempotencyKey?: string; headers?: Record<string, string> }

export type Footprint = {
  messages: number
  outbox: number
  attachments: number
  keys: number
  poolUsed: number
  wallet: { balance: number; held: number; captured: number; credited: number }
}

export type TestApp = {
  url: string
  db: Database
  operatorToken: string
  /** The test key of the demo account. */
  demoKey: string
  /** Where it keeps its files. */
  dataDir: string
  /** Every line that was logged, of all levels by default. */
  log: readonly string[]
  call(path: string, request?: Request): Promise<Answer>
  /** A request as the operator, below `/api/admin`. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  createAccount(options?: AccountOptions): Promise<TestAccount>
  /** The app's wall clock, in ms since the epoch. */
  now(): number
  /** Advances the test's clock. */
  pass(ms: number): Promise<void>
  /**
   * Skips all but the last 15 s at once. Timers run in these, each after the responses to what its predecessors
   * asked, and in 1.2 s more.
   */
  leap(ms: number): Promise<void>
  /** Moves the wall clock forward or back. */
  jump(ms: number): void
  /** Advances the test's clock, if it is fake, until `work` is done. */
  during<T>(work: Promise<T>): Promise<T>
  /**
   * Reads repeatedly while time advances, until `holds`; fails after 120 s of the fake clock, or 25 s of the
   * system's.
   */
  until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T>
  stop(): Promise<void>
}

export type AccountOptions = {
  homeCountry?: string
  currency?: string
  balance?: number
  phone?: { number?: string; verified?: boolean }
  plan?: Record<string, unknown>
}

export type TestAppOptions = {
  env?: Record<string, string>
  /** By default a fake clock, which stands still until it is moved. */
  clock?: Clock
  /** The start of the fake clock, in ms since the epoch; by default now. */
  startMs?: number
  /** A database that several apps of a test share or use in turn; the caller drops it. */
  database?: TestDatabase
  /** The URL of a database that the caller drops. */
  databaseUrl?: string
  logLevel?: LogLevel
  /** Storage of uploaded files; by default a directory of its own. */
  files?: FileStore
  /** The built console; from its usual place by default. */
  consoleFiles?: ConsoleFiles
}

const STEP_MS = 100
const SEEN_OF_A_LEAP_MS = 15_000
const MAX_WAIT_MS = 120_000
/**
 * A request without a response after so many looks counts as silent: the app's peers run in this process as
 * well.
 */
const MAX_LOOKS_AT_A_REQUEST = 60
/** For an app with the system clock, which a test cannot advance. */
const MAX_REAL_WAIT_MS = 25_000
const OPERATOR_TOKEN = 'ph_op_of-the-tests'

/** The whole program on a free port of the loopback, by default with a database of its own. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database
    ? { ...options.database, drop: async () => {} }
    : await createTestDatabase()
  const fake = options.clock ? null : createFakeClock(options.startMs ?? Date.now())
  const log: string[] = []
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-test-'))
  const app = await startApp({
    config: readConfig({
      PORT: '0',
      DATABASE_URL: options.databaseUrl ?? database.url,
      POSTHORN_DB_POOL: '4',
      POSTHORN_DATA_DIR: dataDir,
      ...options.env,
    }),
    secrets: { operatorToken: OPERATOR_TOKEN, masterKey: createHash('sha256').update('tests').digest() },
    log: createLog({ level: options.logLevel ?? 'trace', stream: { write: line => void log.push(line) } }),
    databaseUrl: options.databaseUrl ?? database.url,
    // A test with its own URL means to break the connection, so it keeps the usual time limits.
    ...(options.databaseUrl === undefined && { databaseWaits: UNHURRIED }),
    progress: silentProgress,
    checkResponses: true,
    clock: options.clock ?? fake!,
    ...(options.files && { files: options.files }),
    ...(options.consoleFiles && { consoleFiles: options.consoleFiles }),
  })
  const time = createTime(fake, database)
  const call = createCall(app.url)
  const admin: TestApp['admin'] = (method, path, body) =>
    call(`/api/admin${path}`, { method, body, headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })

  return {
    url: app.url,
    db: database.db,
    now: () => (options.clock ?? fake!).now(),
    operatorToken: OPERATOR_TOKEN,
    demoKey: app.testKey!,
    log,
    call,
    admin,
    createAccount: options => createAccount(database.db, call, admin, options),
    ...time,
    dataDir,
    stop: () => stopAll(app, database, dataDir, time.during),
  }
}

async function stopAll(
  app: App,
  database: { drop(): Promise<void> },
  dataDir: string,
  during: TestApp['during'],
): Promise<void> {
  try {
    await during(app.stop())
  } finally {
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function createCall(url: string): TestApp['call'] {
  return async (path, { method = 'GET', key = null, headers = {}, body } = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== null && { 'x-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: (raw ? body : JSON.stringify(body)) as string }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }
}

/** Advances time only while no response is outstanding, so that a slow machine causes no time-outs. */
function createTime(
  fake: FakeClock | null,
  { db, url }: Pick<TestDatabase, 'db' | 'url'>,
): Pick<TestApp, 'pass' | 'leap' | 'jump' | 'during' | 'until'> {
  const queries = watchQueries(url)
  let underWay: Promise<void> | null = null

  /** Shared by all waiters, so that time does not pass faster with more of them. */
  function step(): Promise<void> {
    underWay ??= takeStep().finally(() => {
      underWay = null
    })
    return underWay
  }

  async function takeStep(): Promise<void> {
    await fake?.advance(STEP_MS, answered)
    await quiet()
  }

  /** Waits until all peers have responded; a peer that stays silent for long does so on purpose. */
  async function answered(): Promise<void> {
    await asked()
    for (let looks = 0; countRequests() > 0; looks++) {
      if (looks === MAX_LOOKS_AT_A_REQUEST) giveUpRequests()
      await isBusy(db)
      await asked()
    }
  }

  /** Waits until no response of the database causes another query: such work takes no time. */
  async function asked(): Promise<void> {
    do {
      await queries.answered()
      // Batches are sent in the next iteration of the event loop.
      await turn()
      await turn()
    } while (queries.count() > 0)
  }

  async function quiet(): Promise<void> {
    do await answered()
    while ((await isBusy(db)) || queries.count() + countRequests() > 0)
  }

  async function pass(ms: number): Promise<void> {
    if (!fake) throw new Error('only a clock of the test’s own can be moved')
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) await step()
  }

  return {
    pass,
    jump: ms => fake?.jump(ms),
    async leap(ms) {
      await quiet()
      // Stepping through hours of idle loops would take too long.
      const unseenMs = Math.max(0, ms - SEEN_OF_A_LEAP_MS)
      fake?.skip(unseenMs)
      await fake?.advance(ms - unseenMs, answered)
      await pass(1_200)
    },
    async during(work) {
      if (!fake) return work
      let done = false
      const end = () => {
        done = true
      }
      work.then(end, end)
      while (!done) await step()
      return work
    },
    async until(read, holds) {
      if (!fake) return lookUntil(read, holds, MAX_REAL_WAIT_MS)
      for (let waitedMs = 0; ; waitedMs += STEP_MS) {
        const value = await read()
        if (holds(value)) return value
        if (waitedMs > MAX_WAIT_MS) throw new Error(`this never came to hold: ${JSON.stringify(value)}`)
        await step()
      }
    },
  }
}

async function isBusy(db: Database): Promise<boolean> {
  const { rows } = await db.query<{ busy: boolean }>({
    name: 'is_busy',
    text: `select exists (select 1 from pg_stat_activity where datname = current_database()
             and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle') as busy`,
  })
  return rows[0]!.busy
}

async function createAccount(
  db: Database,
  call: TestApp['call'],
  admin: TestApp['admin'],
  options: AccountOptions = {},
): Promise<TestAccount> {
  const created = await admin('POST', '/accounts', {
    name: 'Acme',
    homeCountry: 'US',
    currency: 'USD',
    phone: { number: '+12025550123', verified: true },
    balance: 100,
    ...options,
    // With a clock that stands still, rate limits would never recover.
    plan: { rateLimitPerSecond: 100_000, ...options.plan },
  })
  if (created.status !== 201) throw new Error(`no account: ${created.text}`)
  const { account, liveKey, testKey } = created.body['data'] as {
    account: { id: string }
    liveKey: string
    testKey: string
  }

  async function read<T>(path: string, key = testKey): Promise<T> {
    const answer = await call(path, { key })
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`)
    return answer.body['data'] as T
  }

  return {
    id: account.id,
    liveKey,
    testKey,
    send: (body, { live = false, idempotencyKey, headers = {} } = {}) =>
      call('/api/v2/messages/send', {
        method: 'POST',
        key: live ? liveKey : testKey,
        headers: { ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }), ...headers },
        body,
      }),
    read,
    message: messageId => read<MessageWithTimeline>(`/api/v2/messages/${messageId}`),
    messages: (query = '') => read<Message[]>(`/api/v2/messages${query}`),
    inbox: to =>
      read<SandboxMessage[]>(
        `/api/v2/sandbox/messages${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`,
      ),
    wallet: () => read('/api/v2/wallet', liveKey),
    footprint: () => footprintOf(db, toUuid(account.id as `acc_${string}`)),
  }
}

async function footprintOf(db: Database, accountUuid: string): Promise<Footprint> {
  const { rows } = await db.query<{
    messages: number
    outbox: number
    attachments: number
    keys: number
    pool_used: number
    wallet: Footprint['wallet']
  }>({
    name: 'footprint',
    text: `select (select count(*) from messages where account_id = $1)::integer as messages,
                  (select count(*) from outbox where account_id = $1)::integer as outbox,
                  (select count(*) from attachments where account_id = $1)::integer as attachments,
                  (select count(*) from idempotency where account_id = $1)::integer as keys,
                  (select coalesce(sum(used), 0) from pools where account_id = $1)::integer as pool_used,
                  (select json_build_object('balance', balance, 'held', held, 'captured', captured, 'credited', credited)
                     from wallets where account_id = $1) as wallet`,
    values: [accountUuid],
  })
  const { pool_used: poolUsed, ...row } = rows[0]!
  return { ...row, poolUsed }
}

/** `tracking.messageId` of a send that was accepted. */
export function messageIdOf(answer: Answer): string {
  const { tracking } = answer.body as { tracking?: { messageId: string } }
  if (!tracking) throw new Error(`not accepted: ${answer.status} ${answer.text}`)
  return tracking.messageId
}

/** The paths in the details of an error response. */
export function faultPaths(answer: Answer): string[] {
  return ((answer.body['details'] ?? []) as { path: string }[]).map(({ path }) => path)
}

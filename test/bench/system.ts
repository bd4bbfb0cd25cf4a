import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { urlOf } from '../../src/infra/embedded/owner.ts'
import { findPostmaster } from '../../src/infra/embedded/postmaster.ts'
import { type Child, startChild, watch } from './child.ts'
import { cpuOf, createServerMeter } from './cpu.ts'
import type { LoadPlan, LoadResult } from './load.ts'
import { type Sink, startSink } from './sink.ts'

/** The whole program as it ships, with its embedded database, accounts with money, and SMSCs. */
export type System = {
  pid: number
  url: string
  db: pg.Client
  socketDir: string
  /** One live key of each account. */
  keys: readonly string[]
  /** Switches the SMSC of all further sends. */
  route(to: 'plain' | 'receipts'): Promise<void>
  load(plan: Omit<LoadPlan, 'port' | 'offset'>): Promise<LoadResult>
  /** A request of the operator, below `/api/admin`; resolves with the `data` of its response. */
  admin: Admin
  /** A request of the first account, below `/api/v2`. */
  call(method: string, path: string, body: unknown): Promise<Response>
  /** A POST of a form by the first account, below `/api/v2`. */
  post(path: string, form: FormData): Promise<Response>
  /** Messages that the SMSC without receipts has received. */
  taken(): Promise<number>
  /** The ids of the connection to that SMSC, and of the accounts. */
  ids: { plain: string; accounts: readonly string[] }
  /** Starts one more node on the same database. */
  addNode(): Promise<void>
  /** CPU time so far, in ns; `tools` are the load generator, the SMSCs, and this process. */
  cpu(): { node: number; postgres: number; tools: number }
  /** Flushes so far, and the items in them. */
  batches(): Promise<Batches>
  stop(): Promise<void>
}

export type Batches = Record<'accept' | 'settle', { items: number; calls: number }>

export type SystemOptions = {
  accounts: number
  /** Flags for Node itself, such as --cpu-prof. */
  nodeFlags?: readonly string[]
  /** Additional environment variables. */
  env?: Record<string, string>
}

const PROGRAM = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const PACKAGE = new URL('../../package.json', import.meta.url)
const LOAD = fileURLToPath(new URL('./load.ts', import.meta.url))
const START_TIMEOUT_MS = 30_000
const BALANCE = 1_000_000
/**
 * The Node flags of `npm start`. Without the limit, the young generation would grow to 128 MB (decision 31).
 * And without the flag against pretenuring, V8 would allocate lists in the old generation once earlier ones
 * lived long, and keep their rows there: validating a million rows took 310 MB instead of 190 MB.
 */
const AS_NPM_START = readStartFlags()

export async function startSystem(options: SystemOptions): Promise<System> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const server = await startServer(dataDir, options)
  const { socketDir, pid: postmaster } = findPostmaster(join(dataDir, 'postgres'))!
  const postgresCpu = createServerMeter(postmaster)
  const db = new pg.Client({ connectionString: urlOf(socketDir) })
  // The server stops its database when it ends; errors after that do not matter.
  db.on('error', () => {})
  await db.connect()
  const admin = createAdmin(server.url, readFileSync(join(dataDir, 'operator-token'), 'utf8').trim())
  const sinks = { plain: await startSink({ receipts: false }), receipts: await startSink({ receipts: true }) }
  const connections = {
    plain: await addConnection(admin, 'plain', sinks.plain),
    receipts: await addConnection(admin, 'receipts', sinks.receipts),
  }
  const accounts = await addAccounts(admin, options.accounts)
  const keys = accounts.map(account => account.liveKey)
  const nodes = [server]
  const generator: Child = await startChild(LOAD)
  let offset = 0

  function toolsCpu(): number {
    const pids = [generator.pid, sinks.plain.pid, sinks.receipts.pid, process.pid]
    return pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
  }

  async function load(plan: Omit<LoadPlan, 'port' | 'offset'>): Promise<LoadResult> {
    const port = Number(new URL(server.url).port)
    const result = (await generator.ask(JSON.stringify({ ...plan, port, offset }))) as LoadResult
    for (const count of Object.values(result.answers)) offset += count
    return result
  }

  async function route(to: 'plain' | 'receipts'): Promise<void> {
    const other = to === 'plain' ? 'receipts' : 'plain'
    await admin('PATCH', `/connections/${connections[to]}`, { enabled: true })
    await admin('PATCH', `/connections/${connections[other]}`, { enabled: false })
    await untilBound(admin, connections[to])
  }

  async function addNode(): Promise<void> {
    const otherDir = join(dataDir, `node-${nodes.length + 1}`)
    mkdirSync(otherDir)
    const env = {
      ...options.env,
      DATABASE_URL: urlOf(socketDir),
      POSTHORN_MASTER_KEY: readFileSync(join(dataDir, 'master-key'), 'utf8').trim(),
    }
    nodes.push(await startServer(otherDir, { ...options, env }))
  }

  async function stop(): Promise<void> {
    await generator.stop()
    await db.end()
    for (const node of nodes.toReversed()) await node.stop()
    await sinks.plain.stop()
    await sinks.receipts.stop()
  }

  await route('plain')
  return {
    pid: server.pid,
    url: server.url,
    db,
    socketDir,
    keys,
    route,
    load,
    admin,
    call: (method, path, body) =>
      fetch(`${server.url}/api/v2${path}`, {
        method,
        headers: { 'x-api-key': keys[0]!, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    post: (path, form) =>
      fetch(`${server.url}/api/v2${path}`, {
        method: 'POST',
        headers: { 'x-api-key': keys[0]! },
        body: form,
      }),
    taken: sinks.plain.submits,
    ids: { plain: connections.plain, accounts: accounts.map(account => account.id) },
    addNode,
    cpu: () => ({
      node: nodes.reduce((sum, node) => sum + cpuOf(node.pid), 0),
      postgres: postgresCpu(),
      tools: toolsCpu(),
    }),
    batches: async () => readBatches(await (await fetch(`${server.url}/metrics`)).text()),
    stop,
  }
}

type Server = { pid: number; url: string; stop(): Promise<void> }

/** The log goes to a file, as in production; its line "serving" contains the URL. */
async function startServer(dataDir: string, { nodeFlags = [], env: more }: SystemOptions): Promise<Server> {
  const logFile = join(dataDir, 'server.log')
  const log = openSync(logFile, 'a')
  const env = { PATH: process.env['PATH'], PORT: '0', POSTHORN_DATA_DIR: dataDir, ...more }
  const child = watch(
    spawn(process.execPath, [...AS_NPM_START, ...nodeFlags, PROGRAM, 'serve'], {
      env,
      stdio: ['ignore', log, log],
    }),
  )
  closeSync(log)
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const giveUpMs = performance.now() + START_TIMEOUT_MS
  for (;;) {
    const text = readFileSync(logFile, 'utf8')
    const url = /"url":"(http:[^"]+)","message":"serving"/.exec(text)?.[1]
    if (url) {
      const stop = () => {
        child.kill('SIGTERM')
        return ended
      }
      return { pid: child.pid!, url, stop }
    }
    if (child.exitCode !== null || performance.now() > giveUpMs)
      throw new Error(`the server did not start:\n${text}`)
    await pause(50)
  }
}

type Admin = <T>(method: string, path: string, body?: unknown) => Promise<T>

function createAdmin(url: string, token: string): Admin {
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { data: T }
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.data
  }
}

async function addConnection(admin: Admin, name: string, sink: Sink): Promise<string> {
  const { connection } = await admin<{ connection: { id: string } }>('POST', '/connections', {
    provider: 'smpp',
    name,
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: sink.port, systemId: 'bench', password: 'bench' },
    enabled: false,
  })
  return connection.id
}

async function untilBound(admin: Admin, connection: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { ok } = await admin<{ ok: boolean }>('POST', `/connections/${connection}/test`)
    if (ok) return
    await pause(50)
  }
  throw new Error('the connection to the message centre did not come up')
}

async function addAccounts(admin: Admin, count: number): Promise<{ id: string; liveKey: string }[]> {
  const accounts: { id: string; liveKey: string }[] = []
  for (let number = 1; number <= count; number++) {
    const { account, liveKey } = await admin<{ account: { id: string }; liveKey: string }>(
      'POST',
      '/accounts',
      {
        name: `Bench ${number}`,
        homeCountry: 'DE',
        currency: 'EUR',
        phone: { number: '+4915112000000', verified: true },
        plan: { rateLimitPerSecond: 1_000_000, verificationRateLimitPerSecond: 1_000_000 },
        balance: BALANCE,
      },
    )
    accounts.push({ id: account.id, liveKey })
  }
  return accounts
}

function readBatches(metrics: string): Batches {
  const read = (batch: string, kind: string) =>
    Number(new RegExp(`^posthorn_batch_items_${kind}{batch="${batch}"} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0)
  const of = (...batches: string[]) => ({
    items: batches.reduce((sum, batch) => sum + read(batch, 'sum'), 0),
    calls: batches.reduce((sum, batch) => sum + read(batch, 'count'), 0),
  })
  return { accept: of('accept', 'accept_verifications'), settle: of('settle') }
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/** Read from the script itself, so that the measured flags are those that ship. */
function readStartFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { start: string } }
  const [flags] = scripts.start.split(' bin/')
  return flags!.split(' ').filter(word => word.startsWith('--'))
}

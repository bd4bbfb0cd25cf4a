import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BulkJob, BulkRow } from '../../src/contract/bulk.ts'
import type { Message } from '../../src/contract/message.ts'
import { toUuid } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { mostInASecond } from '../support/most-in-a-second.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { type Account, admin, ask, until } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'
import { createDice, type Dice } from './support/random.ts'

/** Printed with every failure: the same seed kills after the same number of health checks. */
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261_121)
/** A sample: `npm run test:kills` makes a hundred, in two to seven minutes. */
const KILLS = Number(process.env['BULK_KILLS'] ?? 12)
const LIMIT_MS = 60_000 + KILLS * 6_000
const ACCOUNTS = 2
const CEILING = 30
const RATE = 10
const ROWS = 60
const JOBS = 3
/** A body long enough for kills during its intake: its last row is invalid, so that nothing of it is sent. */
const LONG_ROWS = 15_000

let database: TestDatabase
let smsc: Smsc
let nodes: Posthorn[]
let dice: Dice

beforeEach(async () => {
  dice = createDice(SEED)
  database = await createTestDatabase()
  smsc = await startSmsc('accept')
  nodes = await Promise.all([startNode(), startNode()])
}, 60_000)
afterEach(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await smsc.close()
  await database.drop()
})

function startNode(): Promise<Posthorn> {
  return startPosthorn({
    DATABASE_URL: database.url,
    POSTHORN_DB_POOL: '5',
    POSTHORN_SANDBOX: 'off',
    // Unknown messages count as sent after some seconds, so that the jobs end.
    POSTHORN_UNKNOWN_DEADLINE_HOURS: '0.001',
  })
}

const anyUrl = () => nodes[dice.roll(nodes.length)]!.url

async function addAccount(): Promise<Account> {
  const { account, liveKey } = await admin<{ account: { id: string }; liveKey: string }>(
    nodes[0]!.url,
    'POST',
    '/accounts',
    {
      name: 'Acme',
      homeCountry: 'US',
      currency: 'USD',
      phone: { number: '+12025550123', verified: true },
      balance: 1_000,
      plan: { rateLimitPerSecond: 100_000, bulkCeilingPerSecond: CEILING },
    },
  )
  return { id: account.id, liveKey }
}

type Wanted = { account: Account; key: string; body: object; rows: number; valid: boolean }

/** Requests to make one after the other for as long as there are kills, so that these always meet work. */
type Source = (nth: number) => Wanted

function createSources(accounts: readonly Account[]): Source[] {
  const row = (job: string, at: number) => ({
    to: `+1202555${1000 + at}`,
    channel: 'local_sms',
    content: { text: `${job} row ${at}` },
  })
  return accounts.flatMap((account, of) => {
    const jobs: Source[] = Array.from({ length: JOBS }, (_, at) => nth => {
      const key = `job ${of}.${at}.${nth}`
      const messages = Array.from({ length: ROWS }, (_, n) => row(key, n))
      return { account, key, body: { messagesPerSecond: RATE, messages }, rows: ROWS, valid: true }
    })
    const long: Source = nth => {
      const key = `long ${of}.${nth}`
      const messages = Array.from({ length: LONG_ROWS }, (_, n) => row(key, n % 1_000))
      messages[LONG_ROWS - 1]!.channel = 'pigeon'
      return { account, key, body: { messagesPerSecond: RATE, messages }, rows: LONG_ROWS, valid: false }
    }
    return [...jobs, long]
  })
}

/** Repeats a request with its key until it gets a response, as careful clients do. */
async function submitJob(wanted: Wanted): Promise<string> {
  const answer = await until(
    () =>
      ask(anyUrl(), '/api/v2/messages/bulk', {
        method: 'POST',
        headers: { 'x-api-key': wanted.account.liveKey, 'idempotency-key': wanted.key },
        body: wanted.body,
      }),
    found => found !== null && found.status < 500 && found.status !== 409,
    LIMIT_MS,
  )
  if (answer!.status !== 202) throw new Error(answer!.text)
  return (JSON.parse(answer!.text) as { id: string }).id
}

/** Follows the events of a job on any node until it has ended: polling would take CPU time from the nodes. */
async function untilEnded({ account }: Wanted, id: string): Promise<BulkJob> {
  const path = `/api/v2/messages/bulk/${id}`
  const job = await until(
    async () => {
      await ask(anyUrl(), `${path}/events`, { headers: { 'x-api-key': account.liveKey } })
      return (await read<{ job: BulkJob }>(account, path))?.job
    },
    found => found?.status === 'completed' || found?.status === 'rejected',
    LIMIT_MS,
  )
  return job!
}

/** Null without a 200. */
async function read<T>(account: Account, path: string): Promise<T | null> {
  const answer = await ask(anyUrl(), path, { headers: { 'x-api-key': account.liveKey } })
  return answer?.status === 200 ? (JSON.parse(answer.text) as T) : null
}

async function readAll<T>(account: Account, path: string): Promise<T[]> {
  const all: T[] = []
  for (let cursor = ''; ; ) {
    const page = await until(
      () => read<{ data: T[]; nextCursor: string | null }>(account, `${path}limit=500${cursor}`),
      found => found !== null,
    )
    all.push(...page!.data)
    if (page!.nextCursor === null) return all
    cursor = `&cursor=${page!.nextCursor}`
  }
}

/** Kills a node repeatedly, as soon as it is back and whatever it is doing; the other one continues, or is down as well. */
async function killRepeatedly(victim: number, kills: number): Promise<void> {
  const strikes = createDice(SEED + victim)
  for (let nth = 0; nth < kills; nth++) {
    // A kill may meet an intake, a page, a hand-over, or a node that has just started.
    const looks = 1 + strikes.roll(40)
    for (let look = 0; look < looks; look++) await ask(nodes[victim]!.url, '/healthz')
    await nodes[victim]!.kill()
    nodes[victim] = await startNode()
  }
}

test(
  'nodes that are killed at any moment lose no row, send none twice, and exceed no rate',
  async () => {
    await admin(nodes[0]!.url, 'POST', '/connections', {
      provider: 'smpp',
      name: 'centre',
      channels: ['local_sms'],
      config: { host: '127.0.0.1', port: smsc.port, systemId: 'posthorn', password: 'secret' },
    })
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, addAccount))
    const ended: { wanted: Wanted; job: BulkJob }[] = []
    let struck = false

    async function follow(source: Source): Promise<void> {
      for (let nth = 0; nth === 0 || !struck; nth++) {
        const wanted = source(nth)
        ended.push({ wanted, job: await untilEnded(wanted, await submitJob(wanted)) })
      }
    }

    const following = Promise.all(createSources(accounts).map(follow))
    await Promise.all(nodes.map((_, victim) => killRepeatedly(victim, KILLS / nodes.length)))
    struck = true
    await following

    const wrong: string[] = []
    for (const { wanted, job } of ended) {
      if (wanted.valid) wrong.push(...(await judge(wanted, job)))
      else if (job.errorCode !== 'VALIDATION_FAILED' || job.total !== LONG_ROWS || job.counts.sent > 0)
        wrong.push(`${wanted.key}: ${JSON.stringify(job)}`)
    }
    for (const account of accounts) wrong.push(...(await judgeAccount(account)))
    expect(wrong, `seed ${SEED}`).toEqual([])
  },
  LIMIT_MS + 60_000,
)

function takenOf(text: string): number {
  return smsc.submits.filter(submit => submit.text === text).length
}

async function judge({ account, key, rows }: Wanted, job: BulkJob): Promise<string[]> {
  const wrong: string[] = []
  const report = (what: string) => wrong.push(`${key}: ${what}`)
  if (job.total !== rows || job.counts.sent !== rows) report(`counts ${JSON.stringify(job)}`)
  const read = await readAll<BulkRow>(account, `/api/v2/messages/bulk/${job.id}/rows?`)
  const messages = await readAll<Message>(account, `/api/v2/messages?bulkJobId=${job.id}&`)
  const byId = new Map(messages.map(message => [message.messageId, message]))
  if (read.length !== rows) report(`${read.length} rows`)
  if (messages.length !== rows) report(`${messages.length} messages`)
  if (new Set(read.map(row => row.messageId)).size !== rows) report('rows share a message')
  for (const row of read) {
    const taken = takenOf(`${key} row ${row.index}`)
    const message = byId.get(row.messageId ?? '')
    if (row.status !== 'sent') report(`row ${row.index} is ${row.status}`)
    if (taken > 1) report(`row ${row.index} was taken ${taken} times`)
    // Never seen by the provider: then its message must have been unknown.
    if (taken === 0 && !(await wasUnknown(row.messageId!))) report(`row ${row.index} was never sent`)
    if (message?.text !== `${key} row ${row.index}`) report(`row ${row.index} is ${message?.text}`)
  }
  const most = mostInASecond(messages.map(message => Date.parse(message.createdAt)))
  if (most > RATE) report(`${most} in a second`)
  return wrong
}

async function judgeAccount(account: Account): Promise<string[]> {
  const messages = await readAll<Message>(account, '/api/v2/messages?')
  const most = mostInASecond(messages.map(message => Date.parse(message.createdAt)))
  const wallet = (await read<{ data: Record<'balance' | 'held' | 'captured' | 'credited', number> }>(
    account,
    '/api/v2/wallet',
  ))!.data
  const micros = (amount: number) => Math.round(amount * 1e6)
  const cost = messages.reduce((sum, message) => sum + micros(message.billing.cost), 0)
  const wrong: string[] = []
  if (most > CEILING) wrong.push(`${account.id}: ${most} in a second`)
  if (micros(wallet.captured) !== cost || wallet.held !== 0)
    wrong.push(`${account.id}: ${JSON.stringify(wallet)}, and messages of ${cost}`)
  if (micros(wallet.balance) + micros(wallet.captured) !== micros(wallet.credited))
    wrong.push(`${account.id}: the wallet does not add up`)
  return wrong
}

async function wasUnknown(messageId: string): Promise<boolean> {
  const { rows } = await database.db.query<{ unknown: boolean }>({
    name: 't_was_unknown',
    text: 'select unknown_at is not null as unknown from messages where id = $1',
    values: [toUuid(messageId as `msg_${string}`)],
  })
  return rows[0]!.unknown
}

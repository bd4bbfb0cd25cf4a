import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../src/contract/message.ts'
import { type SmtpPeer, startSmtpServer } from '../support/smtp-server.ts'
import {
  type Account,
  type Answer,
  admin,
  createAccount,
  type Job,
  read,
  send,
  until,
} from './support/client.ts'
import { findEmbedded, type Posthorn, startPosthorn } from './support/posthorn.ts'
import { type ProviderRecord, type Reaction, startProviderRecord } from './support/provider-record.ts'
import { createDice, type Dice } from './support/random.ts'

/** Printed with every failure: the same seed kills at the same events. */
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261_121)
const JOBS = 700
/** Requests under way at once. */
const CLIENTS = 24
const ACCOUNTS = 12

let dir: string
let smsc: ProviderRecord
let mail: SmtpPeer
let server: Posthorn | null
let dice: Dice

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-kill-'))
  dice = createDice(SEED)
  smsc = await startProviderRecord(react)
  mail = await startSmtpServer()
  server = null
})

afterEach(async () => {
  // Ends everything that was started, whatever went wrong; above all the database.
  await server?.stop()
  const left = findEmbedded(join(dir, 'data'))
  if (left) process.kill(left.pid, 'SIGKILL')
  await smsc.close()
  await mail.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Reacts as SMSCs do: mostly accepts, sometimes is slow, throttles or fails. */
function react(): Reaction {
  const n = dice.roll(100)
  if (n < 60) return 'take'
  if (n < 90) return 'take, answer late'
  if (n < 94) return 0x58 // throttled
  if (n < 98) return 0x08 // a system error of its own
  return 0x0b // no such recipient
}

function start(): Promise<Posthorn> {
  return startPosthorn({
    POSTHORN_DATA_DIR: join(dir, 'data'),
    POSTHORN_SANDBOX: 'off',
    POSTHORN_SYNC_WAIT_MS: '300',
  })
}

async function connectProviders(url: string): Promise<void> {
  await admin(url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'posthorn', password: 'secret', throttleMs: 100 },
    retryPolicy: { maxAttempts: 8, backoffMs: 20 },
  })
  await admin(url, 'POST', '/connections', {
    provider: 'smtp',
    name: 'mail',
    channels: ['email_user'],
    config: { host: '127.0.0.1', port: mail.port, secure: false, from: 'posthorn@example.com' },
  })
}

/** Some with a large balance, some with a pool, some that run out of money. */
async function createAccounts(url: string): Promise<Account[]> {
  const accounts: Account[] = []
  for (let at = 0; at < ACCOUNTS; at++) {
    accounts.push(
      await createAccount(url, {
        balance: at % 4 === 3 ? 0.15 : 100,
        ...(at % 3 === 0 && { pool: [{ channels: ['email_user', 'local_sms'], limit: 10 }] }),
      }),
    )
  }
  return accounts
}

function createJobs(accounts: readonly Account[]): Job[] {
  return Array.from({ length: JOBS }, (_, at) => {
    const marker = `job ${at} of this run`
    const email = dice.roll(4) === 0
    return {
      account: accounts[dice.roll(accounts.length)]!,
      marker,
      key: `key-${at}`,
      body: email
        ? {
            to: `someone-${at}@example.com`,
            channel: 'email_user',
            content: { subject: marker, text: marker },
          }
        : {
            to: `+1202555${String(1000 + at)}`,
            channel: 'local_sms',
            content: { text: marker },
            ...(dice.roll(4) === 0 && { options: { scheduleAt: inSeconds(3 + dice.roll(12)) } }),
          },
    }
  })
}

/** Some of them are repeated with their key after this time. */
function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString()
}

// --- the killer ---------------------------------------------------------------

/** Counts events, and strikes at a random one of the next ones. */
function createKiller(most: number, strike: () => Promise<void>) {
  let events = 0
  let nextAt = next()
  let kills = 0
  let striking: Promise<void> | null = null

  function next(): number {
    return events + 15 + dice.roll(90)
  }

  return {
    event() {
      events++
      if (striking || kills >= most || events < nextAt) return
      kills++
      striking = strike().then(() => {
        striking = null
        nextAt = next()
      })
    },
    /** Waits until no strike is under way; rejects if one failed, which ends the run. */
    async calm() {
      while (striking) await striking
    },
    kills: () => kills,
  }
}

// --- the senders ----------------------------------------------------------------

type Answers = Map<Job, Answer[]>

/** Sends every job until it has a definite response; some are repeated after that. */
async function sendAll(jobs: readonly Job[], answers: Answers, event: () => void, calm: () => Promise<void>) {
  const queue = [...jobs]
  async function work(): Promise<void> {
    for (let job = queue.shift(); job; job = queue.shift()) {
      await calm()
      event()
      const answer = await send(server!.url, job)
      event()
      if (!isDefinite(answer)) {
        server!.checkAlive()
        queue.push(job)
        continue
      }
      answers.set(job, [...(answers.get(job) ?? []), answer!])
      if (dice.roll(4) === 0 && answers.get(job)!.length < 3) queue.push(job)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
}

/** Not definite: no response, the service or all providers unavailable, another request with the same key under way. */
function isDefinite(answer: Answer | null): boolean {
  return answer !== null && answer.status < 500 && answer.status !== 409
}

// --- the comparison ---------------------------------------------------------------

type Row = Message & { account: Account }

async function readRows(accounts: readonly Account[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const account of accounts) {
    const page = await read<Message[]>(server!.url, account, '/api/v2/messages?limit=500')
    if (page.length === 500) throw new Error('more messages than one page: make more accounts')
    rows.push(...page.map(message => ({ ...message, account })))
  }
  return rows
}

/** How often the providers accepted the message of a job. */
function takenBy(marker: string): number {
  const mails = mail.received.filter(one => one.bytes.toString('latin1').includes(`Subject: ${marker}\r\n`))
  return (smsc.taken.get(marker)?.length ?? 0) + mails.length
}

/** What is wrong about one job; empty if nothing is. */
function judge(job: Job, given: readonly Answer[], rows: readonly Row[]): string[] {
  const wrong: string[] = []
  const texts = new Set(given.map(answer => answer.text))
  if (texts.size !== 1) wrong.push(`${texts.size} different answers: ${[...texts].join(' | ')}`)
  const { status, text } = given[0]!
  const taken = takenBy(job.marker)
  // A 503 frees the key, and leaves a message behind: failed by the providers, or withdrawn since it could not be confirmed in time.
  const alive = rows.filter(row => row.status !== 'failed' && row.status !== 'cancelled')
  const unknown = alive.filter(row => row.status === 'unknown').length
  if (taken > alive.length) wrong.push(`taken ${taken} times, ${alive.length} messages`)
  if (alive.length - unknown > taken) wrong.push(`${alive.length - unknown} sent, taken ${taken} times`)
  if (alive.length > 1) wrong.push(`${alive.length} messages`)
  if (status === 200) {
    const { messageId } = (JSON.parse(text) as { tracking: { messageId: string } }).tracking
    const answered = rows.find(row => row.messageId === messageId)
    if (!answered) wrong.push(`no row for ${messageId}`)
    if (answered?.status === 'cancelled') wrong.push(`answered 200, and yet ${messageId} was taken back`)
  } else if (alive.length > 0) wrong.push(`answered ${status}, and yet ${alive[0]!.status}`)
  for (const row of alive) {
    if (!['sent', 'delivered', 'unknown'].includes(row.status)) wrong.push(`left ${row.status}`)
    const ids = smsc.taken.get(job.marker)
    if (row.channel === 'local_sms' && row.status === 'sent' && !ids?.includes(row.providerMessageId ?? ''))
      wrong.push(`${row.providerMessageId} is no id of the centre's`)
  }
  return wrong
}

async function judgeMoney(accounts: readonly Account[], rows: readonly Row[]): Promise<string[]> {
  const wrong: string[] = []
  for (const account of accounts) {
    const wallet = await read<Record<'balance' | 'held' | 'captured' | 'credited', number>>(
      server!.url,
      account,
      '/api/v2/wallet',
    )
    const micros = (amount: number) => Math.round(amount * 1e6)
    const sum = (state: string) =>
      rows
        .filter(
          row => row.account === account && row.billing.source === 'wallet' && row.billing.state === state,
        )
        .reduce((total, row) => total + micros(row.billing.cost), 0)
    if (micros(wallet.balance) + micros(wallet.held) + micros(wallet.captured) !== micros(wallet.credited))
      wrong.push(`${account.id}: the wallet does not add up: ${JSON.stringify(wallet)}`)
    if (micros(wallet.held) !== sum('held'))
      wrong.push(`${account.id}: held ${wallet.held}, messages ${sum('held')}`)
    if (micros(wallet.captured) !== sum('captured'))
      wrong.push(`${account.id}: captured ${wallet.captured}, messages ${sum('captured')}`)
  }
  return wrong
}

/** The number of outbox rows, except those of unknown messages. */
async function readOutbox(): Promise<number> {
  const client = new pg.Client({ connectionString: findEmbedded(join(dir, 'data'))!.url })
  await client.connect()
  try {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::integer as n from outbox o join messages m on m.account_id = o.account_id and m.id = o.message_id
        where m.status <> 'unknown'`,
    )
    return rows[0]!.n
  } finally {
    await client.end()
  }
}

/** The pid file alone does not show this: a starting server takes over the one of its predecessor and rewrites it. */
async function isServing(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

async function runAndJudge(
  most: number,
  strike: () => Promise<void>,
): Promise<{ rows: Row[]; kills: number }> {
  server = await start()
  await connectProviders(server.url)
  const accounts = await createAccounts(server.url)
  const jobs = createJobs(accounts)
  const killer = createKiller(most, strike)
  const answers: Answers = new Map()
  smsc.onSubmit(killer.event)

  await sendAll(jobs, answers, killer.event, killer.calm)
  await killer.calm()
  // Waits until all messages that can settle have settled.
  await until(
    async () => {
      smsc.settle()
      return readOutbox()
    },
    waiting => waiting === 0,
  )
  const rows = await until(
    () => readRows(accounts),
    all =>
      all.every(
        row =>
          row.channel !== 'local_sms' || row.status !== 'sent' || !smsc.heard.has(row.providerMessageId!),
      ),
  )
  // Requests each response once more, from a server that was killed since: it must be identical.
  const left = [...jobs]
  async function ask(): Promise<void> {
    for (let job = left.shift(); job; job = left.shift()) {
      const asked = job
      answers.get(asked)!.push((await until(() => send(server!.url, asked), isDefinite))!)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, ask))

  const byMarker = Map.groupBy(rows, row => row.text ?? '')
  const wrong = jobs.flatMap(job =>
    judge(job, answers.get(job)!, byMarker.get(job.marker) ?? []).map(what => `${job.marker}: ${what}`),
  )
  const markers = new Set(jobs.map(job => job.marker))
  wrong.push(
    ...[...smsc.taken.keys()].filter(text => !markers.has(text)).map(text => `taken without a row: ${text}`),
  )
  wrong.push(...(await judgeMoney(accounts, rows)))
  expect(wrong, `seed ${SEED}`).toEqual([])
  expect(await readRows(accounts)).toHaveLength(rows.length)
  return { rows, kills: killer.kills() }
}

describe('a process that is killed under load', () => {
  test('sends every message once or marks it as unknown, and loses neither responses nor money', async () => {
    const { rows, kills } = await runAndJudge(9, async () => {
      await server!.kill()
      server = await start()
    })
    expect(kills).toBe(9)
    // An unknown message shows that kills met messages under way.
    expect(rows.some(row => row.status === 'unknown')).toBe(true)
    expect(rows.some(row => row.status === 'delivered')).toBe(true)
    expect(rows.some(row => row.scheduledAt !== null && row.status !== 'failed')).toBe(true)
    expect(await server!.stop()).toBe(0)
  }, 300_000)
})

describe('a database that is killed under load', () => {
  test('is restarted, and nothing that was acknowledged is lost', async () => {
    const { kills } = await runAndJudge(3, async () => {
      const struck = findEmbedded(join(dir, 'data'))!.pid
      process.kill(struck, 'SIGKILL')
      await until(async () => {
        const found = findEmbedded(join(dir, 'data'))
        return found && found.pid !== struck && isServing(found.url)
      }, Boolean)
    })
    expect(kills).toBe(3)
    expect(await server!.stop()).toBe(0)
  }, 300_000)
})

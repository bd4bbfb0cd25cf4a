import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { canonicalize } from '../../src/lib/canonical-json.ts'
import { fromUuid, timeOf, toUuid } from '../../src/lib/ids.ts'
import { mostInASecond } from '../support/most-in-a-second.ts'
import { residentMb } from './cpu.ts'
import { median } from './measure.ts'
import { type Figure, fixed, note, perSecond } from './report.ts'
import { pause, type System, startSystem } from './system.ts'
import { ripen } from './throughput.ts'

const FEW_ROWS = 100_000
const MANY_ROWS = 1_000_000
const FEW_TAKEN_IN = 4
const QUICK_ROWS = [20_000, 50_000] as const
const SENDERS = 1_000
const QUICK_SENDERS = 100
/** Messages per second of each job. */
const RATE = 10
const SAMPLE_EVERY_MS = 20

/** Bulk jobs: rows per second through intake and validation, and many concurrent jobs. */
export async function measureBulk(quick: boolean): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'posthorn-bench-bulk-'))
  try {
    return [...(await measureIntake(dir, quick)), ...(await measureSenders(quick))]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

// --- from a body to validated rows ------------------------------------------------

type Intake = {
  rows: number
  seconds: number
  peakMb: number
  /** Null if psql is not installed. */
  copySeconds: number | null
  validatedPerSecond: number
}

async function measureIntake(dir: string, quick: boolean): Promise<Figure[]> {
  const [few, many] = quick ? QUICK_ROWS : ([FEW_ROWS, MANY_ROWS] as const)
  note('Bulk: templates, texts and media URLs, one body')
  const first = await takeInOften(dir, few, quick ? 1 : FEW_TAKEN_IN)
  const second = await takeInAlone(dir, many)
  return [
    ...intakeRate(second),
    {
      name: 'bulk intake, memory',
      measured: `${fixed(second.peakMb, 0)} MB at ${second.rows.toLocaleString('en')}`,
      baseline: '',
      value: second.peakMb,
      unit: ' MB',
      target: { most: 250 },
    },
    {
      name: 'bulk intake, growth',
      measured: `${fixed(second.peakMb, 0)} MB at ${second.rows.toLocaleString('en')}`,
      baseline: `${fixed(first.peakMb, 0)} MB at ${first.rows.toLocaleString('en')}`,
      value: second.peakMb / first.peakMb,
      target: { most: 1.1 },
    },
    {
      name: 'bulk validation',
      measured: perSecond(second.validatedPerSecond),
      baseline: '',
      value: second.validatedPerSecond,
      unit: '/s',
      target: { least: 20_000 },
    },
  ]
}

function intakeRate({ rows, seconds, copySeconds }: Intake): Figure[] {
  if (copySeconds === null) {
    note('  the intake is held against nothing: psql is missing; apt-get install postgresql-client')
    return []
  }
  return [
    {
      name: 'bulk intake',
      measured: perSecond(rows / seconds),
      baseline: `${perSecond(rows / copySeconds)} by psql \\copy`,
      value: copySeconds / seconds,
      target: { least: 0.35 },
    },
  ]
}

/** Of several runs, the one with the highest peak: the peak depends on when the garbage collector runs. */
async function takeInOften(dir: string, rows: number, times: number): Promise<Intake> {
  const intakes: Intake[] = []
  for (let time = 1; time <= times; time++) intakes.push(await takeInAlone(dir, rows))
  return intakes.reduce((highest, each) => (each.peakMb > highest.peakMb ? each : highest))
}

/** Starts a program for each size, so that the garbage of one size does not count for the next. */
async function takeInAlone(dir: string, rows: number): Promise<Intake> {
  const system = await startSystem({ accounts: 1 })
  try {
    const template = await addTemplate(system)
    await takeIn(system, dir, template, 2_000)
    return await takeIn(system, dir, template, rows)
  } finally {
    await system.stop()
  }
}

async function addTemplate(system: System): Promise<string> {
  const { template } = await system.admin<{ template: { id: string } }>('POST', '/templates', {
    name: 'bulk',
    category: 'sms',
    subType: 'utility',
    content: 'Dear {{1}}, your parcel {{2}} comes on {{3}}. Track it at https://example.com/p/{{2}}',
  })
  return template.id
}

function createRow(at: number, template: string): object {
  // Avoids the endings for which the sandbox simulates another outcome.
  const to = `+49151${String(at).padStart(7, '0')}9`
  if (at % 3 === 0) {
    const variablesIndexed = [`Anna-Maria ${at}`, `RX-${at}-DE`, 'Thursday, between 9 and 12 o’clock']
    const metadata = { campaign: 'october', customer: at }
    return {
      to,
      channel: 'local_sms',
      messageType: 'utility',
      template: { id: template, variablesIndexed },
      options: { metadata },
    }
  }
  if (at % 3 === 1) {
    const text = `Your order ${at} has left our house: it is "on its way", and with you by Thursday. Thank you for your trust.`
    return {
      to,
      channel: 'local_sms',
      messageType: 'utility',
      content: { text },
      options: { metadata: { order: at } },
    }
  }
  const publicUrl = `https://93.184.216.34/orders/${at}/label.png`
  const attachment = { type: 'image', publicUrl, mimetype: 'image/png', fileName: `label-${at}.png` }
  return {
    to,
    channel: 'user_chatapp_session',
    messageType: 'utility',
    content: { text: `Your label, ${at}` },
    attachment,
  }
}

async function takeIn(system: System, dir: string, template: string, rows: number): Promise<Intake> {
  const body = join(dir, 'body.json')
  const copy = join(dir, 'rows.tsv')
  const other = crypto.randomUUID()
  await writeFiles({ body, copy, rows, template, account: system.ids.accounts[0]!, job: other })
  const watch = watchMemory(system.pid)
  const startedMs = performance.now()
  const job = await post(system, body, `intake-${rows}`, system.keys[0]!)
  const seconds = (performance.now() - startedMs) / 1_000
  const peakMb = watch()
  const watchValidation = watchMemory(system.pid)
  const validatedPerSecond = await untilValidated(system, job, rows)
  const validationMb = watchValidation()
  const copySeconds = await copyByPsql(system, copy)
  await system.db.query('delete from bulk_rows where job_id = $1', [other])
  await fetch(`${system.url}/api/v2/messages/bulk/${job}/cancel`, {
    method: 'POST',
    headers: { 'x-api-key': system.keys[0]! },
  })
  note(
    `  ${rows.toLocaleString('en').padStart(9)} rows in ${fixed(seconds, 1)} s (psql ${copySeconds === null ? '–' : fixed(copySeconds, 1)} s),` +
      ` ${fixed(peakMb, 0)} MB at the peak, validated at ${perSecond(validatedPerSecond)} with ${fixed(validationMb, 0)} MB`,
  )
  return { rows, seconds, peakMb, copySeconds, validatedPerSecond }
}

type Files = { body: string; copy: string; rows: number; template: string; account: string; job: string }

async function writeFiles({ body, copy, rows, template, account, job }: Files): Promise<void> {
  const prefix = `${toUuid(account as `acc_${string}`)}\t${job}\t`
  async function* ofBody() {
    yield '{"name":"bench","messages":['
    for (let at = 0; at < rows; at++) yield `${at === 0 ? '' : ','}${JSON.stringify(createRow(at, template))}`
    yield `],"messagesPerSecond":${RATE}}`
  }
  async function* ofCopy() {
    for (let at = 0; at < rows; at++)
      yield `${prefix}${at}\t${canonicalize(createRow(at, template)).replaceAll('\\', '\\\\')}\n`
  }
  await pipeline(ofBody, createWriteStream(body))
  await pipeline(ofCopy, createWriteStream(copy))
}

/** Watches the resident set; the returned function gives its peak, in MB. */
function watchMemory(pid: number): () => number {
  let peakMb = 0
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, SAMPLE_EVERY_MS)
  return () => {
    clearInterval(timer)
    return peakMb
  }
}

/** The id of the job. */
function post(system: System, file: string, key: string, apiKey: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${system.url}/api/v2/messages/bulk`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'idempotency-key': key, 'content-type': 'application/json' },
    })
    sent.on('error', reject)
    sent.on('response', async response => {
      const text = await new Response(response as never).text()
      if (response.statusCode === 202) resolve((JSON.parse(text) as { id: string }).id)
      else reject(new Error(`bulk: ${response.statusCode} ${text}`))
    })
    pipeline(createReadStream(file), sent).catch(reject)
  })
}

/** Waits until the job is validated; returns the rows validated per second since the end of the intake. */
async function untilValidated(system: System, job: string, rows: number): Promise<number> {
  const startedMs = performance.now()
  for (;;) {
    const { status } = await readJob(system, job, system.keys[0]!)
    if (status === 'rejected')
      throw new Error(`the bench's own rows are not valid: ${await readFault(system)}`)
    if (status !== 'validating') return (rows * 1_000) / (performance.now() - startedMs)
    await pause(SAMPLE_EVERY_MS)
  }
}

async function readFault(system: System): Promise<string> {
  const { rows } = await system.db.query<{ error_message: string }>(
    `select error_message from bulk_outcomes where state = 'invalid' limit 1`,
  )
  return rows[0]?.error_message ?? 'but all of them are; is there money?'
}

type Read = { status: string }

async function readJob(system: System, job: string, key: string): Promise<Read> {
  const response = await fetch(`${system.url}/api/v2/messages/bulk/${job}`, { headers: { 'x-api-key': key } })
  return ((await response.json()) as { job: Read }).job
}

async function copyByPsql(system: System, file: string): Promise<number | null> {
  const startedMs = performance.now()
  try {
    await promisify(execFile)('psql', [
      ...['-X', '-q', '-h', system.socketDir, '-U', 'posthorn', '-d', 'posthorn', '-v', 'ON_ERROR_STOP=1'],
      ...['-c', `\\copy bulk_rows (account_id, job_id, n, body) from '${file}'`],
    ])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return (performance.now() - startedMs) / 1_000
}

// --- many jobs at once ---------------------------------------------------------------

async function measureSenders(quick: boolean): Promise<Figure[]> {
  const senders = quick ? QUICK_SENDERS : SENDERS
  const seconds = quick ? 5 : 20
  const system = await startSystem({ accounts: senders })
  try {
    note(`Bulk: ${senders.toLocaleString('en')} accounts with a job of ${RATE} a second each`)
    const jobs = await startJobs(system, RATE * (seconds + 30))
    await ripen(system, quick ? 128 : 1_024)
    await untilAllRun(system)
    const before = await system.taken()
    const cpuBefore = system.cpu()
    const startedMs = performance.now()
    const { reads, empty } = await readFor(system, jobs, seconds * 1_000)
    const tookSeconds = (performance.now() - startedMs) / 1_000
    const sent = (await system.taken()) - before
    const cpu = system.cpu()
    const due = senders * RATE * tookSeconds
    const most = await mostOfAnyAccount(system)
    note(
      `  ${perSecond(sent / tookSeconds)} of ${perSecond(senders * RATE)}; CPU a message: Node ${fixed((cpu.node - cpuBefore.node) / sent / 1_000, 0)} µs,` +
        ` PostgreSQL ${fixed((cpu.postgres - cpuBefore.postgres) / sent / 1_000, 0)} µs; most in a second of an account: ${most};` +
        ` reads p50 ${fixed(median(reads), 1)} ms, of nothing ${fixed(median(empty), 1)} ms`,
    )
    const p99Ms = p99Of(reads)
    return [
      {
        name: `bulk, ${senders.toLocaleString('en')} jobs at once`,
        measured: perSecond(sent / tookSeconds),
        baseline: `${perSecond(senders * RATE)} due`,
        value: sent / due,
        target: { least: 0.98 },
      },
      {
        name: 'bulk, most of an account in a second',
        measured: String(most),
        baseline: `a ceiling of ${RATE}`,
        value: most,
        target: { most: RATE },
      },
      {
        name: 'bulk job read p99 meanwhile',
        measured: `${fixed(p99Ms, 1)} ms`,
        baseline: `${fixed(p99Of(empty), 1)} ms of /healthz, which reads nothing`,
        value: p99Ms,
        unit: ' ms',
        target: { most: 5 },
      },
    ]
  } finally {
    await system.stop()
  }
}

type Started = { id: string; key: string }

async function startJobs(system: System, rows: number): Promise<Started[]> {
  const messages = Array.from({ length: rows }, (_, at) => ({
    to: `+49151${String(at).padStart(7, '0')}9`,
    channel: 'local_sms',
    messageType: 'utility',
    content: { text: `Your order ${at} has left our house and is with you by Thursday.` },
  }))
  const body = JSON.stringify({ messagesPerSecond: RATE, messages })
  const jobs: Started[] = []
  for (const key of system.keys) {
    const response = await fetch(`${system.url}/api/v2/messages/bulk`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'idempotency-key': 'many', 'content-type': 'application/json' },
      body,
    })
    const { id } = (await response.json()) as { id: string }
    jobs.push({ id, key })
    await stopJob(system, id, key)
  }
  return jobs
}

/** Pauses each job, since validated jobs start at once: the first ones must not be done when the last one starts. */
async function stopJob(system: System, id: string, key: string): Promise<void> {
  for (;;) {
    const { ok } = await fetch(`${system.url}/api/v2/messages/bulk/${id}/pause`, {
      method: 'POST',
      headers: { 'x-api-key': key },
    })
    if (ok) return
    // It is not validated yet.
    await pause(5)
  }
}

async function untilAllRun(system: System): Promise<void> {
  for (;;) {
    const { rows } = await system.db.query<{ left: number }>(
      `select count(*)::integer as left from bulk_jobs where status in ('accepting', 'validating')`,
    )
    if (rows[0]!.left === 0) break
    await pause(100)
  }
  await system.db.query(`update bulk_jobs set status = 'queued', pause_reason = null where status = 'paused'`)
  for (;;) {
    const { rows } = await system.db.query<{ left: number }>(
      `select count(*)::integer as left from bulk_jobs where status <> 'running'`,
    )
    if (rows[0]!.left === 0) break
    await pause(100)
  }
  await pause(3_000)
}

/** Reads jobs for `forMs`, and in between what needs no database; returns how long each took, in ms. */
async function readFor(
  system: System,
  jobs: readonly Started[],
  forMs: number,
): Promise<{ reads: number[]; empty: number[] }> {
  const reads: number[] = []
  const empty: number[] = []
  const startedMs = performance.now()
  for (let at = 0; performance.now() - startedMs < forMs; at++) {
    const { id, key } = jobs[(at * 37) % jobs.length]!
    reads.push(await timed(() => readJob(system, id, key)))
    await pause(8)
    empty.push(await timed(async () => (await fetch(`${system.url}/healthz`)).arrayBuffer()))
    await pause(8)
  }
  return { reads, empty }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await run()
  return performance.now() - startedMs
}

function p99Of(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}

async function mostOfAnyAccount(system: System): Promise<number> {
  const { rows } = await system.db.query<{ ids: string[] }>(
    `select array_agg(id::text) as ids from messages where bulk_job_id is not null group by account_id`,
  )
  return Math.max(...rows.map(row => mostInASecond(row.ids.map(id => timeOf(fromUuid('msg', id))))))
}

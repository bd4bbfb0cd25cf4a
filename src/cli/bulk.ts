import type { AccountView } from '../contract/account.ts'
import type { BulkJob, BulkRow, BulkStatus } from '../contract/bulk.ts'
import { keepProcessAlive, pause, systemClock } from '../lib/clock.ts'
import { misuse } from '../lib/refusal.ts'
import { bulkKeyOf, readBulkBody } from './bulk-file.ts'
import { type Client, mayPass } from './client.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { unreadable } from './files.ts'
import { progressBar } from './progress-bar.ts'
import { card, table } from './show.ts'

const POLL_EVERY_MS = 1_000
const ENDED: readonly BulkStatus[] = ['rejected', 'completed', 'cancelled']

export const send = clientCommand({
  usage: `bulk send people.csv --rate 5 [--name NAME] [--idempotency-key KEY] [--detach]   ${API_KEY_HINT}`,
  argCount: 1,
  options: {
    rate: { type: 'string' },
    name: { type: 'string' },
    'idempotency-key': { type: 'string' },
    detach: { type: 'boolean' },
  },
  async call(given) {
    const file = given.args[0]!
    const rate = given.number('rate')
    if (rate === undefined) throw misuse('--rate is missing: messages a second, 1 to 10')
    const said = { name: given.text('name'), rate }
    const key = given.text('idempotency-key') ?? (await keyOf(given.client, file, said))
    // `success` is that of the request: the job may have failed.
    const { success: _, ...job } = (await given.client.upload('/messages/bulk', readBulkBody(file, said), {
      'idempotency-key': key,
    })) as BulkJob & { success: true }
    if (ENDED.includes(job.status)) {
      process.stderr.write(
        'This file was submitted before, as this job: use another --name or --idempotency-key to submit it again.\n',
      )
    }
    if (given.flag('detach')) return { data: job }
    if (!ENDED.includes(job.status)) {
      process.stderr.write(`Ctrl-C ends only this command: posthorn bulk cancel ${job.id} ends the job.\n`)
    }
    return { data: await withInvalidRows(given.client, await keepProcessAlive(followJob(given.client, job))) }
  },
  isFailure: answer => ['rejected', 'cancelled'].includes((answer['data'] as BulkJob).status),
  show: answer => renderJob(answer['data'] as JobWithInvalidRows),
})

export const status = clientCommand({
  usage: `bulk status JOB   ${API_KEY_HINT}`,
  argCount: 1,
  call: async ({ client, args }) => ({
    data: await withInvalidRows(client, await readJob(client, args[0]!)),
  }),
  show: answer => renderJob(answer['data'] as JobWithInvalidRows),
})

export const stop = change('pause')
export const resume = change('resume')
export const cancel = change('cancel')

/**
 * The idempotency key is derived from the file: the same command, repeated after an interruption, continues
 * with its job.
 */
async function keyOf(client: Client, file: string, said: { name: string | undefined; rate: number }) {
  const { key } = (await client.api('GET', '/account'))['data'] as AccountView
  return bulkKeyOf(file, { ...said, mode: key.mode }).catch(cause => {
    throw unreadable(file, cause)
  })
}

function change(verb: 'pause' | 'resume' | 'cancel') {
  return clientCommand({
    usage: `bulk ${verb} JOB   ${API_KEY_HINT}`,
    argCount: 1,
    call: async ({ client, pathArgs }) => ({
      data: (await client.api('POST', `/messages/bulk/${pathArgs[0]}/${verb}`))['job'],
    }),
    show: answer => cardOf(answer['data'] as BulkJob),
  })
}

async function readJob(client: Client, id: string): Promise<BulkJob> {
  return (await client.api('GET', `/messages/bulk/${encodeURIComponent(id)}`))['job'] as BulkJob
}

type JobWithInvalidRows = BulkJob & { invalid?: BulkRow[] }

/** Adds the first of the invalid rows for which the job was rejected; there may be many more. */
async function withInvalidRows(client: Client, job: BulkJob): Promise<JobWithInvalidRows> {
  if (job.errorCode !== 'VALIDATION_FAILED') return job
  const rows = await client.api('GET', `/messages/bulk/${job.id}/rows?status=invalid&limit=20`)
  return { ...job, invalid: rows['data'] as BulkRow[] }
}

function renderJob({ invalid = [], ...job }: JobWithInvalidRows): string {
  const rows = invalid.map(row => [row.index, row.to, row.errorCode, row.errorMessage])
  return rows.length === 0 ? cardOf(job) : `${cardOf(job)}\n${table(['index', 'to', 'code', 'error'], rows)}`
}

/** Shows the progress of a job until it has ended, or is paused by its user. */
async function followJob(client: Client, first: BulkJob): Promise<BulkJob> {
  const show = process.stderr.isTTY ? showBar : createLines()
  for (let job = first; ; job = await readJobLater(client, first.id)) {
    show(job)
    const waits = job.status === 'paused' && job.pauseReason === 'user'
    if (waits || ENDED.includes(job.status)) {
      if (process.stderr.isTTY) process.stderr.write('\n')
      return job
    }
  }
}

/** The job after a pause. It goes on while its server restarts or the connection is broken, so it is asked for again. */
async function readJobLater(client: Client, id: string): Promise<BulkJob> {
  for (let isLost = false; ; isLost = true) {
    await pause(systemClock, POLL_EVERY_MS)
    try {
      return await readJob(client, id)
    } catch (error) {
      if (!mayPass(error)) throw error
      if (!isLost) process.stderr.write('The connection was lost: asking again until the server answers.\n')
    }
  }
}

function showBar(job: BulkJob): void {
  const share = job.total === 0 ? 0 : doneOf(job) / job.total
  process.stderr.write(`\r\u001b[K${progressBar(share, lineOf(job), process.stderr.columns)}`)
}

/** Writes a line for each new status and each further tenth. */
function createLines(): (job: BulkJob) => void {
  let last = ''
  return job => {
    const progress = `${job.status} ${Math.floor((10 * doneOf(job)) / Math.max(1, job.total))}`
    if (progress !== last) process.stderr.write(`${lineOf(job)}\n`)
    last = progress
  }
}

/** Rows that are done: validated rows during validation, settled rows later. */
function doneOf({ status, validatedCount, counts }: BulkJob): number {
  return status === 'validating' ? validatedCount : counts.sent + counts.failed + counts.cancelled
}

function lineOf(job: BulkJob): string {
  const { counts, pauseReason } = job
  const why = pauseReason === null ? '' : ` (${pauseReason})`
  return `${job.status}${why}: ${doneOf(job)} of ${job.total}, ${counts.sent} sent, ${counts.failed} failed`
}

function cardOf(job: BulkJob): string {
  return card([
    ['id', job.id],
    ['name', job.name],
    ['status', job.pauseReason === null ? job.status : `${job.status} (${job.pauseReason})`],
    ['total', job.total],
    ['pending', job.counts.pending],
    ['sent', job.counts.sent],
    ['failed', job.counts.failed],
    ['cancelled', job.counts.cancelled],
    ['error', job.errorCode === null ? null : `${job.errorCode}: ${job.errorMessage}`],
  ])
}

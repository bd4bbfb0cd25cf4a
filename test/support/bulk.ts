import { request } from 'node:http'
import type { BulkJob, BulkRow } from '../../src/contract/bulk.ts'
import { fromUuid, timeOf, toUuid } from '../../src/lib/ids.ts'
import type { Answer, TestAccount, TestApp } from './app.ts'

let keys = 0

/**
 * `POST /api/v2/messages/bulk`, with the test key unless `live`. By default with a new idempotency key; null
 * for none.
 */
export function createBulk(
  app: TestApp,
  account: TestAccount,
  body: unknown,
  options: { key?: string | null; live?: boolean; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const key = options.key === undefined ? `key-${++keys}` : options.key
  return app.call('/api/v2/messages/bulk', {
    method: 'POST',
    key: options.live ? account.liveKey : account.testKey,
    headers: { ...(key !== null && { 'idempotency-key': key }), ...options.headers },
    body,
  })
}

/** Rows to numbers that the sandbox delivers to. */
export function bulkRows(count: number, more: object = {}): object[] {
  return Array.from({ length: count }, (_, at) => ({
    to: `+1202555${String(2000 + at)}`,
    channel: 'local_sms',
    messageType: 'utility',
    content: { text: `row ${at}` },
    ...more,
  }))
}

export async function readBulk(app: TestApp, account: TestAccount, id: string): Promise<BulkJob> {
  const answer = await app.call(`/api/v2/messages/bulk/${id}`, { key: account.testKey })
  if (answer.status !== 200) throw new Error(`GET bulk: ${answer.status} ${answer.text}`)
  return answer.body['job'] as BulkJob
}

export function listBulk(account: TestAccount, query = ''): Promise<BulkJob[]> {
  return account.read<BulkJob[]>(`/api/v2/messages/bulk${query}`)
}

export async function readBulkRows(account: TestAccount, id: string, query = ''): Promise<BulkRow[]> {
  return account.read<BulkRow[]>(`/api/v2/messages/bulk/${id}/rows${query}`)
}

/** Waits until the job has one of these statuses; returns it. */
export function untilBulk(
  app: TestApp,
  account: TestAccount,
  id: string,
  ...statuses: BulkJob['status'][]
): Promise<BulkJob> {
  return app.until(
    () => readBulk(app, account, id),
    job => statuses.includes(job.status),
  )
}

/** A request whose body is sent piece by piece. */
export function streamBulk(app: TestApp, account: TestAccount, key: string, headers: object = {}) {
  const url = new URL('/api/v2/messages/bulk', app.url)
  const sent = request(url, {
    method: 'POST',
    headers: {
      'x-api-key': account.testKey,
      'idempotency-key': key,
      'content-type': 'application/json',
      ...headers,
    },
  })
  const answer = new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }))
    })
  })
  answer.catch(() => {})
  return {
    answer,
    /** Resolves when it was written to the socket. */
    write: (text: string) => new Promise<void>(resolve => sent.write(text, () => resolve())),
    end: (text: string) => void sent.end(text),
    cut: () => void sent.destroy(),
  }
}

/** The creation times of a job's messages, in ms since the epoch. */
export async function sentTimes(app: TestApp, id: string): Promise<number[]> {
  const { rows } = await app.db.query<{ id: string }>({
    name: 't_bulk_messages',
    text: 'select id from messages where bulk_job_id = $1 order by id',
    values: [toUuid(id as `job_${string}`)],
  })
  return rows.map(row => timeOf(fromUuid('msg', row.id)))
}

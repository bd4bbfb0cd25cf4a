import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BulkJob } from '../../../src/contract/bulk.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import {
  bulkRows,
  createBulk,
  listBulk,
  readBulk,
  readBulkRows,
  streamBulk,
  untilBulk,
} from '../../support/bulk.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

describe('an accepted bulk job', () => {
  test('is returned with exactly the fields of the contract', async () => {
    const answer = await createBulk(app, account, {
      name: 'October',
      messagesPerSecond: 7,
      messages: bulkRows(3),
    })
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({
      success: true,
      id: expect.stringMatching(/^job_/),
      name: 'October',
      status: 'validating',
      messagesPerSecond: 7,
      pauseReason: null,
      total: 3,
      validatedCount: 0,
      counts: { pending: 3, sent: 0, failed: 0, cancelled: 0 },
      errorCode: null,
      errorMessage: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  })

  test('may have a name of 200 characters, each two UTF-16 units', async () => {
    const name = '😀'.repeat(200)
    const answer = await createBulk(app, account, { name, messagesPerSecond: 10, messages: bulkRows(1) })
    expect(answer).toMatchObject({ status: 202, body: { name } })
  })

  test.each([
    ['text', '"content":{"text":"Hello"}'],
    ['code', '"messageType":"otp","content":{"otpCode":"907351"}'],
  ])('sends the metadata of a row with a %s with all digits of its numbers', async (_, content) => {
    const metadata = '{"order":9007199254740993}'
    const row = `{"to":"+12025552000","channel":"local_sms",${content},"options":{"metadata":${metadata}}}`
    const answer = await createBulk(app, account, `{"messagesPerSecond":10,"messages":[${row}]}`)
    const job = await untilBulk(app, account, answer.body['id'] as string, 'completed')
    const list = await app.call(`/api/v2/messages?bulkJobId=${job.id}`, { key: account.testKey })
    expect(list.text).toContain(`"metadata":${metadata}`)
  })

  test('may have a row with as many values as a send may have, beside others', async () => {
    const many = { ...bulkRows(1)[0], ignored: Array.from({ length: 199_900 }, () => 1) }
    const few = { ...bulkRows(1)[0], ignored: Array.from({ length: 200 }, () => 1) }
    const messages = [few, many, ...Array.from({ length: 100 }, () => few), many, few]
    const answer = await createBulk(app, account, { messagesPerSecond: 10, messages })
    expect(answer).toMatchObject({ status: 202, body: { total: 104 } })
  })

  test('is validated, sent and completed, with one message for each row', async () => {
    const rows = [
      ...bulkRows(2),
      { to: '+12025550002', content: { text: 'refused' }, messageType: 'utility' },
      {
        to: 'someone@example.com',
        content: { subject: 'A "quoted" \\ subject', text: 'Zürich 🏔\n\tnew line' },
      },
    ]
    const { body } = await createBulk(app, account, { messagesPerSecond: 10, messages: rows })
    const job = await untilBulk(app, account, body['id'] as string, 'completed')
    expect(job).toMatchObject({
      name: '',
      validatedCount: 4,
      total: 4,
      counts: { pending: 0, sent: 3, failed: 1, cancelled: 0 },
    })
    const read = await readBulkRows(account, job.id)
    expect(read.map(({ index, to, status, errorCode }) => ({ index, to, status, errorCode }))).toEqual([
      { index: 0, to: '+12025552000', status: 'sent', errorCode: null },
      { index: 1, to: '+12025552001', status: 'sent', errorCode: null },
      { index: 2, to: '+12025550002', status: 'failed', errorCode: 'RECIPIENT_REJECTED' },
      { index: 3, to: 'someone@example.com', status: 'sent', errorCode: null },
    ])
    const messages = await account.messages(`?bulkJobId=${job.id}`)
    expect(messages.map(message => message.messageId).sort()).toEqual(read.map(row => row.messageId!).sort())
    expect(messages.find(message => message.to === 'someone@example.com')).toMatchObject({
      text: 'Zürich 🏔\n\tnew line',
    })
    expect(await readBulkRows(account, job.id, '?status=failed')).toEqual([read[2]])
    expect(await readBulkRows(account, job.id, '?status=sent&limit=2')).toEqual([read[0], read[1]])
    expect(await readBulkRows(account, job.id, '?status=pending')).toEqual([])
  })

  test('has the status accepting while its body arrives, whatever the order of its keys', async () => {
    const slow = streamBulk(app, account, 'slow')
    const messages = JSON.stringify(bulkRows(3)).slice(0, -1)
    await slow.write(`{"messages": ${messages}, `)
    const [accepting] = await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs.length === 1 && jobs[0]!.total > 0,
    )
    expect(accepting).toMatchObject({ status: 'accepting', messagesPerSecond: null, validatedCount: 0 })
    slow.end('{"to": "+12025552999", "text": "the last"}], "other": {"a": [1, 2]}, "messagesPerSecond": 2}')
    const { status, body } = await app.during(slow.answer)
    expect(status).toBe(202)
    expect(body).toMatchObject({ id: accepting!.id, total: 4, messagesPerSecond: 2, status: 'validating' })
    expect((await untilBulk(app, account, accepting!.id, 'completed')).counts.sent).toBe(4)
  })
})

describe('an idempotency key used again', () => {
  test('returns the same job for the same body, whatever the order of the JSON keys', async () => {
    const rows = bulkRows(2)
    const first = await createBulk(
      app,
      account,
      { name: 'n', messagesPerSecond: 3, messages: rows, ignored: 1 },
      { key: 'same' },
    )
    const turned = rows.map(row => Object.fromEntries(Object.entries(row).reverse()))
    const again = await createBulk(
      app,
      account,
      { messages: turned, messagesPerSecond: 3, name: 'n', ignored: 2 },
      { key: 'same' },
    )
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(again.body['id']).toBe(first.body['id'])
    const done = await untilBulk(app, account, first.body['id'] as string, 'completed')
    const late = await createBulk(
      app,
      account,
      { messagesPerSecond: 3, messages: rows, name: 'n' },
      { key: 'same' },
    )
    expect(late.body).toEqual({ success: true, ...done })
    expect(await readBulkRows(account, done.id)).toHaveLength(2)
  })

  test.each([
    ['name', { name: 'other' }],
    ['rate', { messagesPerSecond: 4 }],
    ['order of messages', { messages: bulkRows(2).reverse() }],
    ['number of messages', { messages: bulkRows(3) }],
  ])('is a conflict for another %s', async (what, change) => {
    const body = { name: 'n', messagesPerSecond: 3, messages: bulkRows(2) }
    const key = `conflict ${what}`
    expect((await createBulk(app, account, body, { key })).status).toBe(202)
    const other = await createBulk(app, account, { ...body, ...change }, { key })
    expect(other.status).toBe(409)
    expect(other.body['code']).toBe('IDEMPOTENCY_CONFLICT')
  })

  test.each([
    ['no JSON', '{"broken"'],
    ['no object', []],
    ['of another name, which is none', { messagesPerSecond: 3, messages: bulkRows(2), name: 5 }],
    ['of a rate that is none', { messagesPerSecond: 11, messages: bulkRows(2) }],
    ['without messages', { messagesPerSecond: 3 }],
    ['with an item that is no message', { messagesPerSecond: 3, messages: [...bulkRows(2), null] }],
  ])('is a conflict for an invalid body, too: %s', async (what, other) => {
    const body = { messagesPerSecond: 3, messages: bulkRows(2) }
    const key = `conflict with a body ${what}`
    const first = await createBulk(app, account, body, { key })
    const refused = await createBulk(app, account, other, { key })
    expect([refused.status, refused.body['code']]).toEqual([409, 'IDEMPOTENCY_CONFLICT'])
    expect(refused.headers.get('retry-after')).toBeNull()
    expect((await createBulk(app, account, body, { key })).body['id']).toBe(first.body['id'])
  })

  test('is free again after two rejected requests, the second sent while the first still arrives', async () => {
    const slow = streamBulk(app, account, 'both refused')
    const messages = JSON.stringify(bulkRows(3)).slice(0, -1)
    await slow.write(`{"messages": ${messages}, `)
    await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs.length === 1,
    )
    const refused = createBulk(app, account, { messagesPerSecond: 11, messages: [] }, { key: 'both refused' })
    slow.end('{"to": 5}], "messagesPerSecond": 2}')
    expect((await app.during(slow.answer)).body['code']).toBe('INVALID_MESSAGE')
    expect((await app.during(refused)).body['code']).toBe('MESSAGES_PER_SECOND_INVALID')
    const body = { messagesPerSecond: 3, messages: bulkRows(1) }
    const accepted = await app.during(createBulk(app, account, body, { key: 'both refused' }))
    expect([accepted.status, accepted.headers.get('idempotency-replayed')]).toEqual([202, null])
    expect(accepted.body).toMatchObject({ total: 1, messagesPerSecond: 3 })
  })

  test('creates one job for many concurrent requests', async () => {
    const body = { messagesPerSecond: 3, messages: bulkRows(5) }
    const answers = await app.during(
      Promise.all(Array.from({ length: 30 }, () => createBulk(app, account, body, { key: 'at once' }))),
    )
    expect(answers.map(answer => answer.status)).toEqual(Array.from({ length: 30 }, () => 202))
    expect(new Set(answers.map(answer => answer.body['id'])).size).toBe(1)
    expect(answers.filter(answer => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1)
  })

  test('is limited to its account, as is the job', async () => {
    const other = await app.createAccount()
    const body = { messagesPerSecond: 3, messages: bulkRows(1) }
    const mine = await createBulk(app, account, body, { key: 'mine' })
    const theirs = await createBulk(app, other, body, { key: 'mine' })
    expect(theirs.status).toBe(202)
    expect(theirs.body['id']).not.toBe(mine.body['id'])
    const stolen = await app.call(`/api/v2/messages/bulk/${mine.body['id']}`, { key: other.testKey })
    expect(stolen.status).toBe(404)
    expect(stolen.body['code']).toBe('JOB_NOT_FOUND')
  })
})

test('bulk jobs are listed newest first, page by page', async () => {
  const other = await app.createAccount()
  const ids: string[] = []
  for (let at = 0; at < 3; at++) {
    const { body } = await createBulk(app, other, { messagesPerSecond: 1, messages: bulkRows(1) })
    ids.unshift(body['id'] as string)
  }
  const page = await app.call('/api/v2/messages/bulk?limit=2', { key: other.testKey })
  expect((page.body['data'] as BulkJob[]).map(job => job.id)).toEqual(ids.slice(0, 2))
  const next = await listBulk(other, `?limit=2&cursor=${page.body['nextCursor']}`)
  expect(next.map(job => job.id)).toEqual(ids.slice(2))
  expect((await readBulk(app, other, ids[0]!)).id).toBe(ids[0])
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/lib/ids.ts'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import {
  bulkRows,
  createBulk,
  listBulk,
  readBulk,
  readBulkRows,
  streamBulk,
  untilBulk,
} from '../../support/bulk.ts'
import { sendRaw } from '../frame/frame.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_BULK_MAX_MB: '1' } })
  account = await app.createAccount()
})
afterAll(() => app.stop())

const FINE = { messagesPerSecond: 5, messages: bulkRows(2) }

/** Expects a rejection with this code, and that nothing of the job is stored. */
async function expectRefusal(body: unknown, code: string, status = 400) {
  const before = await countStored()
  const answer = await createBulk(app, account, body)
  expect([answer.status, answer.body['code']]).toEqual([status, code])
  expect(await countStored()).toEqual(before)
  return answer
}

async function countStored(): Promise<{ jobs: number; rows: number }> {
  const { rows } = await app.db.query<{ jobs: number; rows: number }>({
    name: 't_stored_bulk',
    text: `select (select count(*) from bulk_jobs)::integer as jobs, (select count(*) from bulk_rows)::integer as rows`,
  })
  return rows[0]!
}

describe('the idempotency key', () => {
  test('is required', async () => {
    const answer = await createBulk(app, account, FINE, { key: null })
    expect([answer.status, answer.body['code']]).toEqual([400, 'IDEMPOTENCY_KEY_REQUIRED'])
  })

  test.each(['', 'k'.repeat(201)])('must have 1 to 200 characters', async key => {
    const answer = await createBulk(app, account, FINE, { key })
    expect([answer.status, answer.body['code']]).toEqual([400, 'IDEMPOTENCY_KEY_INVALID'])
  })

  test('may have 200 characters', async () => {
    expect((await createBulk(app, account, FINE, { key: 'k'.repeat(200) })).status).toBe(202)
  })

  test('may have 200 multi-byte characters of UTF-8, and no more', async () => {
    for (const [letters, status] of [
      [200, 202],
      [201, 400],
    ] as const) {
      const key = Buffer.from('é'.repeat(letters)).toString('latin1')
      expect((await createBulk(app, account, FINE, { key })).status).toBe(status)
    }
  })

  test('is checked before the body', async () => {
    const answer = await createBulk(app, account, 'no JSON at all', { key: null })
    expect(answer.body['code']).toBe('IDEMPOTENCY_KEY_REQUIRED')
  })
})

test.each([
  ['an empty body', ''],
  ['no body', undefined],
  ['malformed JSON', '{"messages": [}'],
  ['an array', '[]'],
  ['null', 'null'],
  ['a number', '12'],
  ['more than one JSON value', '{"messagesPerSecond": 1, "messages": [{"to": "+12025552000"}]} {}'],
  ['a missing closing brace', '{"messagesPerSecond": 1, "messages": [{"to": "+12025552000"}]'],
  [
    'a repeated key',
    '{"messagesPerSecond": 1, "messagesPerSecond": 2, "messages": [{"to": "+12025552000"}]}',
  ],
  ['malformed JSON in a message', '{"messagesPerSecond": 1, "messages": [{"to": +12025552000}]}'],
  ['a trailing comma', '{"messagesPerSecond": 1, "messages": [{"to": "+12025552000"},]}'],
  [
    'malformed JSON in an ignored field',
    '{"messagesPerSecond": 1, "messages": [{"to": "+1"}], "x": {"y" 1}}',
  ],
  [
    'a NUL character in a key',
    '{"messagesPerSecond": 1, "messages": [{"to": "+12025552000"}], "\\u0000": 1}',
  ],
  ['half a surrogate pair in a key', '{"messagesPerSecond": 1, "messages": [{"to": "+1"}], "\\ud800": 1}'],
  ['a prototype', '{"messagesPerSecond": 1, "messages": [{"to": "+12025552000"}], "__proto__": {}}'],
  [
    'a byte order mark before a message',
    '{"messagesPerSecond": 1, "messages": [\uFEFF{"to": "+12025552000", "text": "x"}]}',
  ],
  [
    'malformed JSON after a NUL character',
    '{"messagesPerSecond": 1, "messages": [{"to": "\\u0000"}, {"to": "+1",}]}',
  ],
  [
    'an item that is nested too deeply',
    `{"messagesPerSecond": 1, "messages": [{"to": ${'['.repeat(33)}1${']'.repeat(33)}}]}`,
  ],
  ['a name that is not a string', { ...FINE, name: 5 }],
  ['a name that is too long', { ...FINE, name: 'n'.repeat(201) }],
  ['a name of too many emoji', { ...FINE, name: '😀'.repeat(201) }],
])('a bulk body is rejected with INVALID_REQUEST_BODY: %s', async (_, body) => {
  await expectRefusal(body, 'INVALID_REQUEST_BODY')
})

test.each([
  [
    'an invalid rate and a missing closing brace',
    '{"messagesPerSecond": 0, "messages": [{"to": "+12025552000"}]',
  ],
  ['no messages and a missing closing brace', '{"messagesPerSecond": 5, "messages": []'],
  ['an invalid message and a missing closing brace', '{"messagesPerSecond": 5, "messages": [null]'],
  ['an invalid rate and an invalid name', { messagesPerSecond: 0, messages: [null], name: 5 }],
  ['an invalid message and an invalid name', { messagesPerSecond: 5, messages: [null], name: 5 }],
  [
    'an invalid rate and text after the JSON',
    '{"messagesPerSecond": 0, "messages": [{"to": "+12025552000"}]} x',
  ],
  [
    'a byte order mark within the JSON',
    '{"messagesPerSecond": \ufeff5, "messages": [{"to": "+12025552000"}]}',
  ],
])('INVALID_REQUEST_BODY takes precedence over another fault: %s', async (_, body) => {
  await expectRefusal(body, 'INVALID_REQUEST_BODY')
})

test.each([0, 11, 2.5, '5', null, -1, true, [5], undefined, 1e300])(
  'messagesPerSecond %j is rejected, not lowered',
  async messagesPerSecond => {
    await expectRefusal({ ...FINE, messagesPerSecond }, 'MESSAGES_PER_SECOND_INVALID')
    await expectRefusal({ messages: FINE.messages, messagesPerSecond }, 'MESSAGES_PER_SECOND_INVALID')
  },
)

test.each([undefined, [], {}, null, 'text', 5])(
  'messages %j are rejected with MESSAGES_REQUIRED',
  async messages => {
    await expectRefusal({ messagesPerSecond: 5, messages }, 'MESSAGES_REQUIRED')
    await expectRefusal({ messages, messagesPerSecond: 5 }, 'MESSAGES_REQUIRED')
  },
)

describe('an item of messages that is not valid', () => {
  test.each([
    ['null', null, 'messages[1]'],
    ['a number', 5, 'messages[1]'],
    ['an array', [], 'messages[1]'],
    ['a string', 'to', 'messages[1]'],
    ['without to', {}, 'messages[1].to'],
    ['with an array as to', { to: ['+12025552000'] }, 'messages[1].to'],
    ['with null as to', { to: null }, 'messages[1].to'],
    [
      'with options.scheduleAt',
      { to: '+12025552000', options: { scheduleAt: '2030-01-01T00:00:00Z' } },
      'messages[1].options.scheduleAt',
    ],
    [
      'with scheduleAt at the top level',
      { to: '+12025552000', scheduleAt: '2030-01-01T00:00:00Z' },
      'messages[1].scheduleAt',
    ],
  ])('is rejected with its path: %s', async (_, row, path) => {
    const answer = await expectRefusal(
      { messagesPerSecond: 5, messages: [bulkRows(1)[0], row] },
      'INVALID_MESSAGE',
    )
    expect(faultPaths(answer)).toEqual([path])
  })

  test('is reported only when messagesPerSecond is valid, whatever their order', async () => {
    await expectRefusal({ messages: [null], messagesPerSecond: 11 }, 'MESSAGES_PER_SECOND_INVALID')
    await expectRefusal({ messages: [], messagesPerSecond: 0 }, 'MESSAGES_PER_SECOND_INVALID')
    await expectRefusal({ messages: [null], messagesPerSecond: 10 }, 'INVALID_MESSAGE')
  })

  test('in the middle of a streamed body leaves no job or rows', async () => {
    const before = await countStored()
    const slow = streamBulk(app, account, 'bad-midway')
    await slow.write(`{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `)
    await app.until(countStored, stored => stored.rows > before.rows)
    slow.end('null]}')
    expect(await app.during(slow.answer)).toMatchObject({ status: 400, body: { code: 'INVALID_MESSAGE' } })
    expect(await app.until(countStored, stored => stored.rows === before.rows)).toEqual(before)
    // Its idempotency key is free again.
    expect((await createBulk(app, account, FINE, { key: 'bad-midway' })).status).toBe(202)
  })
})

test('the event stream of a bulk job ends when its body is refused, since the job is gone', async () => {
  const before = await countStored()
  const slow = streamBulk(app, account, 'bad-while-followed')
  await slow.write(`{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `)
  const [accepting] = await app.until(
    () => listBulk(account, '?status=accepting'),
    jobs => jobs[0]?.total === 20,
  )
  const stream = await fetch(`${app.url}/api/v2/messages/bulk/${accepting!.id}/events`, {
    headers: { 'x-api-key': account.testKey },
  })
  slow.end('null]}')
  expect(await app.during(slow.answer)).toMatchObject({ status: 400, body: { code: 'INVALID_MESSAGE' } })
  expect(await app.during(stream.text())).toContain('"status":"accepting"')
  await app.until(countStored, stored => stored.rows === before.rows)
})

describe('a bulk body that does not arrive complete', () => {
  test('rejects the job, removes its rows, and frees its idempotency key when the connection is cut', async () => {
    const before = await countStored()
    const slow = streamBulk(app, account, 'cut')
    await slow.write(`{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `)
    const [accepting] = await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs[0]?.total === 20,
    )
    slow.cut()
    const job = await untilBulk(app, account, accepting!.id, 'rejected')
    expect(job).toMatchObject({
      errorCode: 'INTAKE_INCOMPLETE',
      errorMessage: expect.any(String),
      total: 0,
      counts: { pending: 0, sent: 0, failed: 0, cancelled: 0 },
    })
    await app.until(countStored, stored => stored.rows === before.rows)
    const again = await createBulk(app, account, FINE, { key: 'cut' })
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotency-replayed')).toBeNull()
  })

  test('gets a 400 when it stops being valid JSON, and the job is rejected', async () => {
    const slow = streamBulk(app, account, 'broken')
    await slow.write(`{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `)
    const [accepting] = await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs[0]?.total === 20,
    )
    slow.end('{"to": nonsense}]}')
    expect(await app.during(slow.answer)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST_BODY' },
    })
    expect(await readBulk(app, account, accepting!.id)).toMatchObject({
      status: 'rejected',
      errorCode: 'INTAKE_INCOMPLETE',
    })
    expect(await readBulkRows(account, accepting!.id)).toEqual([])
  })

  test('rejects the job at once when it stops being valid HTTP, though its sender keeps the connection', async () => {
    const rows = `{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `
    const sender = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', allowHalfOpen: true })
    sender.write(
      `POST /api/v2/messages/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${account.testKey}\r\nIdempotency-Key: no chunk\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
        `${rows.length.toString(16)}\r\n${rows}\r\n`,
    )
    const [accepting] = await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs[0]?.total === 20,
    )
    const acceptedAt = app.now()
    sender.write('no length\r\n')
    const [answer] = await once(sender, 'data')
    expect(String(answer)).toContain('"code":"VALIDATION_ERROR"')
    const job = await untilBulk(app, account, accepting!.id, 'rejected')
    expect(job.errorCode).toBe('INTAKE_INCOMPLETE')
    // Much less than the time that a body may stall.
    expect(app.now() - acceptedAt).toBeLessThan(5_000)
    sender.destroy()
  })

  test('gets a 408 when it arrives too slowly', async () => {
    const slow = streamBulk(app, account, 'drop by drop')
    await slow.write('{"messagesPerSecond": 5, "messages": [{"to": "+12025552000"},')
    const answer = app.during(slow.answer)
    expect(await answer).toMatchObject({ status: 408, body: { code: 'REQUEST_TIMEOUT' } })
    slow.cut()
  })
})

describe('a bulk request is rejected for', () => {
  test.each([
    ['without an idempotency key', '', 'IDEMPOTENCY_KEY_REQUIRED'],
    ['over the size limit', 'Idempotency-Key: a\r\n', 'PAYLOAD_TOO_LARGE'],
  ])('what its headers say, before its body is sent, if it expects a 100: %s', async (_, headers, code) => {
    const sender = connect(Number(new URL(app.url).port), '127.0.0.1')
    sender.write(
      `POST /api/v2/messages/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${account.testKey}\r\n${headers}` +
        'Content-Type: application/json\r\nContent-Length: 3000000000\r\nExpect: 100-continue\r\n\r\n',
    )
    const received = await text(sender)
    expect(received).toMatch(/^HTTP\/1\.1 4/)
    expect(received).toContain(`"code":"${code}"`)
  })

  test('an inactive subscription', async () => {
    const inactive = await app.createAccount({ plan: { name: 'p', status: 'inactive' } })
    const answer = await createBulk(app, inactive, 'not even JSON')
    expect([answer.status, answer.body['code']]).toEqual([403, 'SUBSCRIPTION_INACTIVE'])
    const without = await createBulk(app, inactive, FINE, { key: null })
    expect(without.body['code']).toBe('IDEMPOTENCY_KEY_REQUIRED')
  })

  test('a key that is revoked while the body arrives, and leaves no job', async () => {
    const before = await listBulk(account)
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Short',
      mode: 'test',
      role: 'member',
      permissions: ['messages:create', 'messages:read'],
    })
    const { key, apiKey } = made.body['data'] as { key: { id: string }; apiKey: string }
    const slow = streamBulk(app, account, 'revoked', { 'x-api-key': apiKey })
    await slow.write(`{"messagesPerSecond": 5, "messages": ${JSON.stringify(bulkRows(20)).slice(0, -1)}, `)
    await app.until(
      () => listBulk(account, '?status=accepting'),
      jobs => jobs[0]?.total === 20,
    )
    await app.admin('DELETE', `/accounts/${account.id}/keys/${key.id}`)
    await app.until(
      () => app.call('/api/v2/messages/bulk', { key: apiKey }),
      answer => answer.status === 401,
    )
    slow.end('{"to": "+12025552000"}]}')
    expect(await app.during(slow.answer)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect((await listBulk(account)).map(job => job.id)).toEqual(before.map(job => job.id))
  })

  test('a phone that is not verified', async () => {
    const unverified = await app.createAccount({ phone: { number: '+12025550123', verified: false } })
    const answer = await createBulk(app, unverified, FINE)
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
  })

  test('a missing API key', async () => {
    const answer = await app.call('/api/v2/messages/bulk', { method: 'POST', body: FINE })
    expect(answer.status).toBe(401)
  })

  test('a content type other than JSON', async () => {
    const answer = await createBulk(app, account, '{}', { headers: { 'content-type': 'text/csv' } })
    expect([answer.status, answer.body['code']]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const headers = { 'content-type': 'Application/JSON ; charset=utf-8' }
    expect((await createBulk(app, account, '[]', { headers })).body['code']).toBe('INVALID_REQUEST_BODY')
  })

  test('a body over the size limit, known by its length or while it arrives', async () => {
    const before = await countStored()
    const messages = bulkRows(3_000, { content: { text: 'x'.repeat(400) } })
    expect(JSON.stringify(messages).length).toBeGreaterThan(1_048_576)
    await expectRefusal({ messagesPerSecond: 5, messages }, 'PAYLOAD_TOO_LARGE', 413)
    const slow = streamBulk(app, account, 'too large')
    slow.end(JSON.stringify({ messagesPerSecond: 5, messages }))
    expect(await app.during(slow.answer)).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } })
    // Fewer when the rows left by an earlier test are cleaned up meanwhile.
    await app.until(countStored, stored => stored.rows <= before.rows)
  })
})

test('a rejected long body is read to its end, and the connection stays usable for the next request', async () => {
  const body = JSON.stringify({ messagesPerSecond: 5, messages: bulkRows(9_000) }).padEnd(1_800_000)
  const head = `Host: a\r\nX-API-Key: ${account.testKey}\r\n`
  const large =
    `POST /api/v2/messages/bulk HTTP/1.1\r\n${head}Idempotency-Key: long\r\n` +
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const next = `GET /api/v2/messages/bulk HTTP/1.1\r\n${head}Connection: close\r\n\r\n`
  const answers = await app.during(sendRaw(Number(new URL(app.url).port), large + next))
  expect(answers).toContain('PAYLOAD_TOO_LARGE')
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
})

describe('a bulk job that does not pass validation', () => {
  test('is rejected with all invalid rows listed, and sends nothing', async () => {
    const wrong = [
      { to: 'nobody', content: { text: 'x' } },
      { to: '+12025552000' },
      { to: '+12025552000', channel: 'pigeon', content: { text: 'x' } },
      { to: '+12025552000', template: { id: 'tpl_none' } },
    ]
    const { body } = await createBulk(app, account, {
      messagesPerSecond: 5,
      messages: [...bulkRows(2), ...wrong, ...bulkRows(1)],
    })
    const job = await untilBulk(app, account, body['id'] as string, 'rejected')
    expect(job).toMatchObject({
      errorCode: 'VALIDATION_FAILED',
      validatedCount: 7,
      counts: { pending: 7, sent: 0, failed: 0, cancelled: 0 },
    })
    const invalid = await readBulkRows(account, job.id, '?status=invalid')
    expect(invalid.map(row => [row.index, row.status, row.errorCode])).toEqual([
      [2, 'invalid', 'VALIDATION_ERROR'],
      [3, 'invalid', 'VALIDATION_ERROR'],
      [4, 'invalid', 'VALIDATION_ERROR'],
      [5, 'invalid', 'NOT_FOUND'],
    ])
    expect(invalid[0]!.errorMessage).toContain('to:')
    expect(invalid[2]!.errorMessage).toContain('channel:')
    expect(await readBulkRows(account, job.id)).toHaveLength(7)
    expect(await account.messages(`?bulkJobId=${job.id}`)).toEqual([])
  })

  test('lists a row with what a send would refuse as the reading of its JSON, with the error of the send', async () => {
    const flawed = [
      '{"to": "+12025552000", "text": "a\\u0000b"}',
      '{"to": "+1202555\\u00002000", "text": "x"}',
      '{"to": "+12025552000", "content": {"text": "\\ud800"}}',
      '{"to": "+1", "text": "x", "to": "+12025552000"}',
      '{"to": "+12025552000", "text": "x", "options": {"metadata": {"n": 1e999}}}',
      '{"to": "+12025552000", "text": "x", "__proto__": {}}',
    ]
    const bodyOf = (rows: string[]) => `{"messagesPerSecond": 5, "messages": [${rows.join(',')}]}`
    const rows = [...bulkRows(1).map(row => JSON.stringify(row)), ...flawed]
    const answer = await createBulk(app, account, bodyOf(rows), { key: 'flawed' })
    expect([answer.status, answer.body['total']]).toEqual([202, 7])
    const job = await untilBulk(app, account, answer.body['id'] as string, 'rejected')
    expect(job).toMatchObject({ errorCode: 'VALIDATION_FAILED', validatedCount: 7 })
    const invalid = await readBulkRows(account, job.id, '?status=invalid')
    expect(invalid.map(row => [row.index, row.to, row.errorCode])).toEqual(
      flawed.map((_, at) => [at + 1, '+12025552000', 'VALIDATION_ERROR']),
    )
    for (const [at, text] of flawed.entries()) {
      const single = await app.call('/api/v2/messages/send', {
        method: 'POST',
        key: account.testKey,
        body: text,
      })
      expect([single.status, single.body['error']]).toEqual([400, invalid[at]!.errorMessage])
    }

    const again = await createBulk(app, account, bodyOf(rows), { key: 'flawed' })
    expect([again.status, again.body['id']]).toEqual([202, job.id])
    const other = [...rows.slice(0, -1), '{"to": "+12025552000", "text": "y", "__proto__": {}}']
    expect((await createBulk(app, account, bodyOf(other), { key: 'flawed' })).status).toBe(409)
  })

  test('is another body than one in which that row is mended', async () => {
    const mends = [
      ['{"to": "+1", "text": "x", "to": "+12025552000"}', '{"to": "+12025552000", "text": "x"}'],
      ['{"to": "+12025552000", "options": {"a": 1e999}}', '{"to": "+12025552000", "options": {}}'],
    ]
    for (const [at, [flawed, mended]] of mends.entries()) {
      for (const [key, first, then] of [
        [`flawed-${at}`, flawed, mended],
        [`mended-${at}`, mended, flawed],
      ] as const) {
        const bodyOf = (row: string) => `{"messagesPerSecond": 5, "messages": [${row}]}`
        expect((await createBulk(app, account, bodyOf(first!), { key })).status).toBe(202)
        expect((await createBulk(app, account, bodyOf(then!), { key })).status).toBe(409)
        expect((await createBulk(app, account, bodyOf(first!), { key })).status).toBe(202)
      }
    }
  })

  test('does not store the code of a row that cannot be stored', async () => {
    const message = '{"to": "+12025552000", "messageType": "otp", "content": {"otpCode": "8674\\u0000"}}'
    const { body } = await createBulk(app, account, `{"messagesPerSecond": 5, "messages": [${message}]}`)
    const job = await untilBulk(app, account, body['id'] as string, 'rejected')
    const { rows } = await app.db.query<{ body: string }>({
      name: 't_flawed_row',
      text: 'select body from bulk_rows where job_id = $1',
      values: [toUuid(job.id as `job_${string}`)],
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]!.body).not.toContain('8674')
  })

  test('lists all 10,000 rows when all are invalid', async () => {
    const messages = Array.from({ length: 10_000 }, () => ({ to: 'x' }))
    const { body } = await createBulk(app, account, { messagesPerSecond: 10, messages })
    const job = await untilBulk(app, account, body['id'] as string, 'rejected')
    expect(job).toMatchObject({ errorCode: 'VALIDATION_FAILED', total: 10_000, validatedCount: 10_000 })
    let seen = 0
    for (let cursor = ''; cursor !== 'null'; ) {
      const page = await app.call(
        `/api/v2/messages/bulk/${job.id}/rows?status=invalid&limit=500${cursor && `&cursor=${cursor}`}`,
        { key: account.testKey },
      )
      seen += (page.body['data'] as unknown[]).length
      cursor = String(page.body['nextCursor'])
    }
    expect(seen).toBe(10_000)
  })

  test('is rejected when the account cannot pay for one message', async () => {
    const poor = await app.createAccount({ balance: 0 })
    const { body } = await createBulk(app, poor, FINE, { live: true })
    const job = await untilBulk(app, poor, body['id'] as string, 'rejected')
    expect(job).toMatchObject({ errorCode: 'INSUFFICIENT_BALANCE', validatedCount: 2 })
  })
})

test.each([
  ['GET', '/api/v2/messages/bulk?status=done'],
  ['GET', '/api/v2/messages/bulk?cursor=nonsense'],
  ['GET', '/api/v2/messages/bulk?limit=501'],
])('an invalid query is rejected: %s %s', async (method, path) => {
  expect((await app.call(path, { method, key: account.testKey })).status).toBe(400)
})

test.each([
  ['GET', ''],
  ['GET', '/rows'],
  ['GET', '/events'],
  ['POST', '/pause'],
  ['POST', '/resume'],
  ['POST', '/cancel'],
])('%s for an unknown bulk job is JOB_NOT_FOUND: %s', async (method, path) => {
  for (const id of ['job_01arz3ndektsv4rrffq69g5fav', 'nonsense', 'msg_01arz3ndektsv4rrffq69g5fav']) {
    const answer = await app.call(`/api/v2/messages/bulk/${id}${path}`, { method, key: account.testKey })
    expect([answer.status, answer.body['code']]).toEqual([404, 'JOB_NOT_FOUND'])
  }
})

test('a malformed job id is JOB_NOT_FOUND with an API key, and 401 without', async () => {
  for (const id of ['job_%00', 'x'.repeat(300), 'x'.repeat(3_000)]) {
    const path = `/api/v2/messages/bulk/${id}`
    const known = await app.call(path, { key: account.testKey })
    expect([known.status, known.body['code']]).toEqual([404, 'JOB_NOT_FOUND'])
    const stranger = await app.call(path, {})
    expect([stranger.status, stranger.body['code']]).toEqual([401, 'UNAUTHORIZED'])
  }
})

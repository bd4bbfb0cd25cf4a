import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

/** Requests rejected before the body is read: 401, 403, 405, 413, 415, 429. */

const SEND = '/api/v2/messages/send'
const BODY = { to: '+12025550100', text: 'Hello' }

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

const post = (key: string | null, headers: Record<string, string> = {}, body: unknown = BODY) =>
  app.call(SEND, { method: 'POST', key, headers, body })

function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body['code']], answer.text).toEqual([status, code])
  expect(answer.body).toMatchObject({ success: false, error: expect.any(String) })
  expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
}

async function createKey(of: TestAccount, more: Record<string, unknown> = {}) {
  const permissions = ['messages:create', 'messages:read']
  const answer = await app.admin('POST', `/accounts/${of.id}/keys`, {
    name: 'Another',
    mode: 'test',
    role: 'owner',
    permissions,
    ...more,
  })
  expect(answer.status, answer.text).toBe(201)
  const { key, apiKey } = answer.body['data'] as { key: { id: string }; apiKey: string }
  return { id: key.id, apiKey }
}

describe('401', () => {
  test.each([
    ['without a key', null],
    ['with an empty key', ''],
    ['with a malformed key', 'secret'],
    ['with a key that does not exist', `ph_test_${'a'.repeat(32)}000000`],
    ['with two keys', 'a, b'],
  ])('%s', async (_, key) => {
    const answer = await post(key)
    expectProblem(answer, 401, 'UNAUTHORIZED')
    expect(answer.headers.has('ratelimit')).toBe(false)
  })

  test('with a key of which a character was changed', async () => {
    const last = account.testKey.at(-1) === 'a' ? 'b' : 'a'
    expectProblem(await post(account.testKey.slice(0, -1) + last), 401, 'UNAUTHORIZED')
    expectProblem(await post(account.testKey.replace('test', 'live')), 401, 'UNAUTHORIZED')
  })

  test('is not stored for replay', async () => {
    const headers = { 'idempotency-key': 'unauthorized' }
    expectProblem(await post(null, headers), 401, 'UNAUTHORIZED')
    const answer = await post(account.testKey, headers)
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null])
  })

  test('from the moment a key expires', async () => {
    const [latest] = await account.messages('?limit=1')
    const nowMs = Date.parse(latest!.createdAt)
    const { apiKey } = await createKey(account, { expiresAt: new Date(nowMs + 10_000).toISOString() })
    expect((await post(apiKey)).status).toBe(200)
    await app.pass(10_000)
    expectProblem(await post(apiKey), 401, 'UNAUTHORIZED')
  })

  test('as soon as a key is revoked', async () => {
    const { id, apiKey } = await createKey(account)
    expect((await post(apiKey)).status).toBe(200)
    expect((await app.admin('DELETE', `/accounts/${account.id}/keys/${id}`)).status).toBe(200)
    const answer = await app.until(
      () => post(apiKey),
      ({ status }) => status !== 200,
    )
    expectProblem(answer, 401, 'UNAUTHORIZED')
  })
})

describe('403', () => {
  test.each([
    ['no permissions', []],
    ['other permissions only', ['messages:read', 'api_keys:read', 'api_keys:write']],
  ])('for a key with %s', async (_, permissions) => {
    const { apiKey } = await createKey(account, { permissions })
    const answer = await post(apiKey)
    expectProblem(answer, 403, 'FORBIDDEN')
    expect(answer.body['error']).toContain('messages:create')
    expect(answer.headers.has('ratelimit')).toBe(true)
  })

  test('for an account whose phone is not verified, until it is', async () => {
    const unverified = await app.createAccount({ phone: { number: '+12025550123', verified: false } })
    const before = await unverified.footprint()
    expectProblem(await post(unverified.liveKey, { 'idempotency-key': 'unverified' }), 403, 'FORBIDDEN')
    expect(await unverified.footprint()).toEqual(before)
    await app.admin('PATCH', `/accounts/${unverified.id}`, { phone: { verified: true } })
    const answer = await app.until(
      () => post(unverified.liveKey, { 'idempotency-key': 'unverified' }),
      ({ status }) => status !== 403,
    )
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null])
  })

  test('for a suspended account', async () => {
    const suspended = await app.createAccount()
    await app.admin('PATCH', `/accounts/${suspended.id}`, { status: 'suspended' })
    const answer = await app.until(
      () => post(suspended.testKey),
      ({ status }) => status !== 200,
    )
    expectProblem(answer, 403, 'FORBIDDEN')
  })

  test('does not apply to a key of a member that has the permission', async () => {
    const { apiKey } = await createKey(account, { role: 'member', permissions: ['messages:create'] })
    expect((await post(apiKey)).status).toBe(200)
  })
})

describe('404 and 405', () => {
  test.each([
    '/api/v2/messages/send/',
    '/api/v2/messages/sent/now',
    '/api/v1/messages/send',
    '/api/v2/nothing',
    '/nothing',
  ])('404 for the unknown path %s', async path => {
    expectProblem(
      await app.call(path, { method: 'POST', key: account.testKey, body: BODY }),
      404,
      'NOT_FOUND',
    )
  })

  test.each([
    ['GET', SEND, 'POST'],
    ['PUT', SEND, 'POST'],
    ['DELETE', SEND, 'POST'],
    ['PATCH', SEND, 'POST'],
    ['POST', '/api/v2/messages', 'GET, HEAD'],
    ['DELETE', '/api/v2/messages', 'GET, HEAD'],
    ['POST', '/api/v2/messages/policies', 'GET, HEAD'],
    ['DELETE', '/api/v2/messages/msg_01jd0000000000000000000001', 'GET, HEAD'],
    ['GET', '/api/v2/messages/msg_01jd0000000000000000000001/cancel', 'POST'],
    ['POST', '/api/v2/sandbox/messages', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('%s %s is a 405 that allows %s', async (method, path, allow) => {
    for (const key of [account.testKey, null]) {
      const answer = await app.call(path, { method, key })
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED')
      expect(answer.headers.get('allow')).toBe(allow)
    }
  })
})

describe('413 and 415', () => {
  const LIMIT = 24 * 1024 * 1024
  const SMALL = JSON.stringify({ to: 'a@example.com', attachment: { type: 'document', base64: '' } })

  test('a body of 24 MB is accepted, and one byte more is 413', async () => {
    const filled = (length: number) => {
      const base64 = 'QUJD'.repeat(Math.floor((length - SMALL.length) / 4))
      const body = SMALL.replace('"base64":""', `"base64":"${base64}"`)
      return body + ' '.repeat(length - body.length)
    }
    const options = { 'idempotency-key': 'too large' }
    expectProblem(await post(account.testKey, options, filled(LIMIT + 1)), 413, 'PAYLOAD_TOO_LARGE')
    const answer = await app.during(post(account.testKey, options, filled(LIMIT)))
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'text/json'])(
    'a body of type %s is 415, which names the types that a send accepts',
    async type => {
      const answer = await post(account.testKey, { 'content-type': type })
      expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE')
      const message = 'must be application/json or multipart/form-data'
      expect(answer.body['details']).toEqual([{ path: 'Content-Type', message }])
    },
  )

  test('a compressed body is 415', async () => {
    expectProblem(await post(account.testKey, { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
})

describe('429', () => {
  test('for a burst of more than twice the rate per second, until a second has passed', async () => {
    const limited = await app.createAccount({ plan: { rateLimitPerSecond: 2 } })
    const answers: Answer[] = []
    for (let count = 0; count < 5; count++)
      answers.push(await post(limited.testKey, { 'idempotency-key': `${count}` }))
    expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200, 429])
    const refused = answers[4]!
    expectProblem(refused, 429, 'RATE_LIMITED')
    expect(refused.body['retryAfterSeconds']).toBe(1)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit')).toMatch(/^"api";r=0;t=\d+$/)
    // Reads count against the same limit.
    expect((await app.call('/api/v2/messages', { key: limited.liveKey })).status).toBe(429)
    await app.pass(1_000)
    const again = await post(limited.testKey, { 'idempotency-key': '4' })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null])
  })

  test('for one account does not affect another', async () => {
    const [first, second] = [
      await app.createAccount({ plan: { rateLimitPerSecond: 1 } }),
      await app.createAccount({ plan: { rateLimitPerSecond: 1 } }),
    ]
    for (const status of [200, 200, 429]) expect((await post(first.testKey)).status).toBe(status)
    expect((await post(second.testKey)).status).toBe(200)
  })
})

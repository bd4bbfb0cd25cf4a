import { afterEach, describe, expect, it } from 'vitest'
import type { Keys } from '../../../src/http/auth.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { demoRoutes } from './demo.ts'
import { caller, type Frame, KEY, keysOf, OPERATOR_TOKEN, startFrame } from './frame.ts'

let frame: Frame
afterEach(() => frame.close())

async function startWith(change: Parameters<typeof caller>[0]): Promise<void> {
  frame = await startFrame({ keys: keysOf({ [KEY]: caller(change) }) })
}

describe('an API key', () => {
  it.each([null, '', 'ph_test_other', 'x'.repeat(201)])(
    'returns 401 when it is missing or wrong: %j',
    async key => {
      frame = await startFrame()
      const answer = await frame.call('GET', '/demo/items', { key })
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({
        success: false,
        code: 'UNAUTHORIZED',
        error: 'The API key is missing or not valid.',
        requestId: answer.headers.get('x-request-id'),
      })
      expect(answer.headers.get('ratelimit')).toBeNull()
      expect(answer.headers.get('www-authenticate')).toBe('ApiKey realm="Posthorn", header="X-API-Key"')
    },
  )

  it('can be looked up asynchronously', async () => {
    const keys: Keys = { lookup: async rawKey => (rawKey === KEY ? caller() : null) }
    frame = await startFrame({ keys })
    expect((await frame.call('GET', '/demo/items/a')).body).toEqual({
      id: 'a',
      accountId: caller().account.id,
    })
    expect((await frame.call('GET', '/demo/items/a', { key: 'other' })).status).toBe(401)
  })

  it('returns 503, not 401, when the database of keys is unavailable', async () => {
    const gone = Object.assign(new Error('gone'), { name: 'DatabaseUnavailable' })
    frame = await startFrame({ keys: { lookup: () => Promise.reject(gone) } })
    const answer = await frame.call('GET', '/demo/items/a')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  it('returns 403 for a suspended account', async () => {
    await startWith({ account: { status: 'suspended' } })
    const answer = await frame.call('GET', '/demo/items/a')
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
  })

  it('returns 403 without the required permission, and names the permission', async () => {
    await startWith({ permissions: new Set(['messages:create']) })
    const answer = await frame.call('GET', '/demo/items')
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect(answer.body['error']).toContain('messages:read')
    expect((await frame.call('POST', '/demo/echo', { body: { to: 'a' } })).status).toBe(200)
  })

  it('returns 403 for an unverified phone, but only where a permission is required', async () => {
    await startWith({ account: { phone: { number: null, verified: false } } })
    expect((await frame.call('GET', '/demo/items')).status).toBe(403)
    expect((await frame.call('POST', '/demo/echo', { body: { to: 'a' } })).status).toBe(403)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
  })

  it('returns 403 for an owners-only operation when it belongs to a member', async () => {
    await startWith({ role: 'member' })
    expect((await frame.call('PUT', '/demo/items/a')).status).toBe(403)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
  })

  it('is checked before the body and the query', async () => {
    await startWith({ permissions: new Set() })
    expect((await frame.call('POST', '/demo/echo', { body: '{"to"' })).status).toBe(403)
    expect((await frame.call('POST', '/demo/echo', { body: '{"to"', key: 'wrong' })).status).toBe(401)
    expect((await frame.call('GET', '/demo/items?limit=0', { key: null })).status).toBe(401)
  })
})

describe('the operator token', () => {
  it.each([
    [`Bearer ${OPERATOR_TOKEN}`, 200],
    [`bearer ${OPERATOR_TOKEN}`, 200],
    [`Bearer ${OPERATOR_TOKEN}x`, 401],
    [`Basic ${OPERATOR_TOKEN}`, 401],
    [OPERATOR_TOKEN, 401],
    ['', 401],
  ])('given as Authorization %j returns %d', async (authorization, status) => {
    frame = await startFrame()
    const answer = await frame.call('GET', '/demo/admin', { key: null, headers: { authorization } })
    expect(answer.status).toBe(status)
    const asked = answer.headers.get('www-authenticate')
    expect(asked).toBe(status === 401 ? 'Bearer realm="Posthorn operator"' : null)
  })

  it('returns 429 after thirty wrong guesses from one IP address, also when it is correct', async () => {
    const clock = createFakeClock()
    frame = await startFrame({ clock })
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const { status, body } = await frame.call('GET', '/demo/admin', { key: null, headers })
      return [status, body['retryAfterSeconds']]
    }
    for (let guess = 0; guess < 30; guess++) {
      // A correct token does not count towards the limit.
      expect(await ask(OPERATOR_TOKEN)).toEqual([200, undefined])
      expect(await ask(`guess-${guess}`)).toEqual([401, undefined])
    }
    expect(await ask('another')).toEqual([429, 4])
    // The correct token is limited too: one this short could be found by guessing.
    expect(await ask(OPERATOR_TOKEN)).toEqual([429, 4])
    await clock.advance(4_000)
    expect(await ask(OPERATOR_TOKEN)).toEqual([200, undefined])
    const none = await frame.call('GET', '/demo/admin', { key: null })
    expect(none.status).toBe(401)
  })

  it('is never rate limited when it is too long to be guessed', async () => {
    const operatorToken = 'a-token-of-twenty-letters'
    frame = await startFrame({ clock: createFakeClock(), operatorToken })
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await frame.call('GET', '/demo/admin', { key: null, headers })).status
    }
    for (let guess = 0; guess < 30; guess++) expect(await ask(`guess-${guess}`)).toBe(401)
    expect([await ask('another'), await ask(operatorToken)]).toEqual([429, 200])
  })

  it('cannot be replaced by an API key, nor an API key by it', async () => {
    frame = await startFrame()
    expect((await frame.call('GET', '/demo/admin')).status).toBe(401)
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    expect((await frame.call('GET', '/demo/items', { key: null, headers })).status).toBe(401)
  })
})

describe('the rate limit', () => {
  const plan = { ...caller().account.plan, rateLimitPerSecond: 5, verificationRateLimitPerSecond: 1 }
  const other = 'ph_test_other'
  const keys = keysOf({
    [KEY]: caller({ account: { plan } }),
    [other]: caller({ account: { plan, id: 'acc_00000000000000000000000002' } }),
  })

  it('allows a burst of twice the rate, then the rate', async () => {
    const clock = createFakeClock()
    frame = await startFrame({ keys, clock })
    const first = await frame.call('GET', '/demo/items/a')
    expect(first.headers.get('ratelimit-policy')).toBe('"api";q=10;w=2')
    expect(first.headers.get('ratelimit')).toBe('"api";r=9;t=1')
    for (let taken = 2; taken <= 10; taken++)
      expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)

    const refused = await frame.call('GET', '/demo/items/a')
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ success: false, code: 'RATE_LIMITED', retryAfterSeconds: 1 })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit')).toBe('"api";r=0;t=2')

    await clock.advance(200)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(429)
  })

  it('counts each account and each group of operations separately', async () => {
    frame = await startFrame({ keys, clock: createFakeClock() })
    for (let taken = 0; taken < 10; taken++) await frame.call('GET', '/demo/items/a')
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(429)
    expect((await frame.call('GET', '/demo/items/a', { key: other })).status).toBe(200)
    const verify = await frame.call('POST', '/demo/verify')
    expect(verify.status).toBe(200)
    expect(verify.headers.get('ratelimit-policy')).toBe('"verification_send";q=2;w=2')
  })

  it('counts rejected requests of a valid key too, and sends its headers on them', async () => {
    frame = await startFrame({ keys, clock: createFakeClock() })
    const answer = await frame.call('POST', '/demo/echo', { body: '{}' })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('ratelimit')).toBe('"api";r=9;t=1')
  })

  it('counts requests that no route handles too, and sends its headers if the key is valid', async () => {
    frame = await startFrame({ keys, clock: createFakeClock() })
    const nowhere = await frame.call('GET', '/demo/nowhere')
    expect([nowhere.status, nowhere.headers.get('ratelimit')]).toEqual([404, '"api";r=9;t=1'])
    const broken = await frame.call('DELETE', '/demo/echo', { body: '{' })
    expect([broken.status, broken.headers.get('ratelimit')]).toEqual([405, '"api";r=8;t=1'])
    const unread = await frame.call('GET', '/demo/items/%ff')
    expect([unread.status, unread.headers.get('ratelimit')]).toEqual([400, '"api";r=7;t=1'])
    const long = await frame.call('GET', `/demo/items/${'x'.repeat(300)}`)
    expect([long.status, long.headers.get('ratelimit')]).toEqual([404, '"api";r=6;t=1'])
    for (let taken = 4; taken < 10; taken++) await frame.call('GET', '/demo/nowhere')
    expect((await frame.call('GET', '/demo/nowhere')).status).toBe(429)

    const nobody = await frame.call('GET', '/demo/nowhere', { key: null })
    expect([nobody.status, nobody.headers.get('ratelimit')]).toEqual([404, null])
    expect((await frame.call('GET', '/demo/nowhere', { key: 'ph_test_x' })).status).toBe(404)
  })

  it('applies to a suspended account, with its headers', async () => {
    const suspended = caller({ account: { plan, status: 'suspended' } })
    frame = await startFrame({ keys: keysOf({ [KEY]: suspended }), clock: createFakeClock() })
    const answers = []
    for (let taken = 0; taken < 11; taken++) answers.push(await frame.call('GET', '/demo/items/a'))
    expect([answers[0]!.status, answers[0]!.headers.get('ratelimit')]).toEqual([403, '"api";r=9;t=1'])
    expect(answers[10]!.status).toBe(429)
  })

  it('is divided by the number of nodes', async () => {
    frame = await startFrame({ keys, clock: createFakeClock(), nodeCount: () => 5 })
    const answer = await frame.call('GET', '/demo/items/a')
    expect(answer.headers.get('ratelimit-policy')).toBe('"api";q=2;w=2')
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(429)
  })

  it('is checked before the body is parsed', async () => {
    const seen = { handlers: 0 }
    frame = await startFrame({ keys, clock: createFakeClock(), routes: demoRoutes(seen) })
    for (let taken = 0; taken < 10; taken++) await frame.call('POST', '/demo/echo', { body: { to: 'a' } })
    expect((await frame.call('POST', '/demo/echo', { body: '{"broken' })).status).toBe(429)
    expect(seen.handlers).toBe(10)
  })
})

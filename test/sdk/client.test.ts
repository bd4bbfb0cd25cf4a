import { afterEach, describe, expect, it } from 'vitest'
import { createPosthorn, PosthornError, type PosthornOptions, PosthornUnreachable } from '../../sdk/index.ts'
import { type HttpPeer, type PeerAct, startHttpPeer } from '../support/http-peer.ts'

let peer: HttpPeer
const waitsMs: number[] = []
afterEach(async () => {
  waitsMs.length = 0
  await peer.close()
})

const json = (status: number, body: object, headers: Record<string, string> = {}): PeerAct => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const later = (seconds: number) =>
  json(
    503,
    {
      success: false,
      code: 'SERVICE_UNAVAILABLE',
      error: 'Not now.',
      requestId: 'req_1',
      retryAfterSeconds: seconds,
    },
    { 'retry-after': String(seconds) },
  )
const wallet = json(200, { success: true, data: { balance: 5 } })

async function client(acts: readonly PeerAct[], options: Partial<PosthornOptions> = {}) {
  peer = await startHttpPeer((_, nth) => acts[Math.min(nth, acts.length) - 1] ?? acts[0]!)
  return createPosthorn({
    baseUrl: peer.url,
    apiKey: 'ph_test_1',
    sleep: async ms => void waitsMs.push(ms),
    ...options,
  })
}

describe('a call', () => {
  it('sends key, path, query and JSON body, and returns the body of the response', async () => {
    const posthorn = await client([json(200, { success: true, data: [], nextCursor: null })])
    const answer = await posthorn.get('/api/v2/messages', { query: { status: 'sent', to: '+1 202' } })
    expect(answer.data).toEqual([])
    await posthorn.get('/api/v2/messages/{messageId}', { path: { messageId: 'msg_a/b' } })
    await posthorn.post('/api/v2/messages/send', { body: { to: '+1', text: 'x' }, idempotencyKey: 'k1' })
    expect(peer.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v2/messages?status=sent&to=%2B1%20202',
      'GET /api/v2/messages/msg_a%2Fb',
      'POST /api/v2/messages/send',
    ])
    expect(peer.requests[2]).toMatchObject({
      headers: { 'x-api-key': 'ph_test_1', 'idempotency-key': 'k1', 'content-type': 'application/json' },
      body: '{"to":"+1","text":"x"}',
    })
  })

  it('throws the server’s error with its code, request id and details', async () => {
    const details = [{ path: 'to', message: 'is required' }]
    const posthorn = await client([
      json(400, {
        success: false,
        code: 'VALIDATION_ERROR',
        error: 'to: is required',
        requestId: 'req_2',
        details,
      }),
    ])
    const error = await posthorn.post('/api/v2/messages/send', { body: { to: '' } }).catch(thrown => thrown)
    expect(error).toBeInstanceOf(PosthornError)
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', requestId: 'req_2', details })
    expect(waitsMs).toEqual([])
  })

  it('throws PosthornUnreachable for the error page of a proxy, an empty response and no server', async () => {
    const page = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad</h1>' }
    const nothing = { status: 504, headers: { 'content-length': '0' }, body: '' }
    const posthorn = await client([page, nothing], { retries: 0 })
    for (const status of [502, 504]) {
      await expect(posthorn.get('/api/v2/wallet')).rejects.toMatchObject({
        name: 'PosthornUnreachable',
        status,
      })
    }
    await peer.close()
    await expect(posthorn.get('/api/v2/wallet')).rejects.toBeInstanceOf(PosthornUnreachable)
  })
})

describe('a call without a response from Posthorn', () => {
  it('reports the status of the other response, even if that is 200', async () => {
    const page: PeerAct = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }
    const posthorn = await client([page])
    await expect(posthorn.get('/api/v2/wallet')).rejects.toMatchObject({
      name: 'PosthornUnreachable',
      message: 'The response with status 200 is not from a Posthorn server.',
      status: 200,
    })
  })

  it.each(['get', 'post'] as const)('with %s does not follow a redirect to another address', async method => {
    const other = await startHttpPeer(() => wallet)
    const posthorn = await client([
      { status: 302, headers: { location: `${other.url}/api/v2/wallet` }, body: '' },
    ])
    const called =
      method === 'get'
        ? posthorn.get('/api/v2/wallet')
        : posthorn.post('/api/v2/messages/send', { body: { to: '+1', text: 'x' }, idempotencyKey: 'k1' })
    await expect(called).rejects.toMatchObject({
      name: 'PosthornUnreachable',
      message: `The server redirects to ${other.url}/api/v2/wallet: use that address as baseUrl.`,
      status: 302,
    })
    expect(other.requests).toEqual([])
    expect(peer.requests).toHaveLength(1)
    await other.close()
  })

  it('rejects a redirect that a browser reports without its target', async () => {
    const hidden = Object.defineProperties(Response.error(), { type: { value: 'opaqueredirect' } })
    const posthorn = await client([wallet], { fetch: async () => hidden })
    await expect(posthorn.get('/api/v2/wallet')).rejects.toMatchObject({
      message: 'The server redirects to somewhere else: use that address as baseUrl.',
      status: null,
    })
  })

  it('rejects an empty response with status 200', async () => {
    const posthorn = await client([{ status: 200, headers: { 'content-length': '0' }, body: '' }])
    await expect(posthorn.get('/api/v2/wallet')).rejects.toMatchObject({
      name: 'PosthornUnreachable',
      status: 200,
    })
  })

  it('with an invalid header or URL throws that error, and sends nothing', async () => {
    const posthorn = await client([wallet])
    const body = { to: '+12025550123', text: 'Hello' }
    const sent = posthorn.post('/api/v2/messages/send', { body, idempotencyKey: 'order–1' })
    await expect(sent).rejects.toThrow(TypeError)
    const nowhere = createPosthorn({ baseUrl: 'no address' })
    await expect(nowhere.get('/api/v2/wallet')).rejects.toThrow(/Failed to parse URL from no address/)
    expect(peer.requests).toEqual([])
  })

  it('throws the caller’s reason when the caller aborts it', async () => {
    const left = new Error('They left the page.')
    const stop = new AbortController()
    const posthorn = await client([wallet], {
      fetch: request =>
        new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason))
          stop.abort(left)
        }),
    })
    await expect(posthorn.get('/api/v2/wallet', { signal: stop.signal })).rejects.toBe(left)
  })
})

describe('retries', () => {
  it('repeat a GET whose response broke off, but not a POST without an idempotency key', async () => {
    const half = {
      raw: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"success"',
    }
    const posthorn = await client([half, wallet])
    expect((await posthorn.get('/api/v2/wallet')).data.balance).toBe(5)
    expect(peer.requests).toHaveLength(2)
    await peer.close()

    const other = await client([half, wallet])
    const body = { to: '+12025550123', text: 'Hello' }
    await expect(other.post('/api/v2/messages/send', { body })).rejects.toMatchObject({
      message: 'The server cannot be reached.',
    })
    expect(peer.requests).toHaveLength(1)
  })

  it('follow the Retry-After date of a proxy, unless it is too far away', async () => {
    const at = (time: string) => json(429, {}, { 'retry-after': time })
    const posthorn = await client([at('Thu, 01 Jan 1970 00:00:00 GMT'), at('-5'), wallet])
    expect((await posthorn.get('/api/v2/wallet')).data.balance).toBe(5)
    expect(waitsMs).toEqual([0, 0])
    await peer.close()
    const far = await client([at('Fri, 31 Dec 9999 23:59:59 GMT'), wallet])
    await expect(far.get('/api/v2/wallet')).rejects.toMatchObject({ status: 429 })
    expect(peer.requests).toHaveLength(1)
  })

  it('repeat a GET after the wait that the server asks for', async () => {
    const posthorn = await client([later(3), 'reset', wallet])
    expect((await posthorn.get('/api/v2/wallet')).data.balance).toBe(5)
    expect(waitsMs).toEqual([3_000, expect.closeTo(375, -3)])
    expect(peer.requests).toHaveLength(3)
  })

  it('repeat a POST that has an idempotency key, with the same key and body, but none without a key', async () => {
    const sent = json(200, { success: true })
    const posthorn = await client(['reset', sent])
    const body = { to: '+12025550123', text: 'once' }
    await posthorn.post('/api/v2/messages/send', { body, idempotencyKey: 'k2' })
    expect(peer.requests.map(request => [request.headers['idempotency-key'], request.body])).toEqual([
      ['k2', JSON.stringify(body)],
      ['k2', JSON.stringify(body)],
    ])
    await peer.close()
    const other = await client(['reset', sent])
    await expect(other.post('/api/v2/messages/send', { body })).rejects.toBeInstanceOf(PosthornUnreachable)
    expect(peer.requests).toHaveLength(1)
  })

  it('never repeat a request that the server would do twice, even if it has an idempotency key', async () => {
    const posthorn = await client(['reset', json(201, { success: true })])
    const body = { url: 'https://example.com/hook' }
    // @ts-expect-error: a program in JavaScript has no types that refuse it.
    const keyed = posthorn.post('/api/v2/webhooks', { body, idempotencyKey: 'k4' })
    await expect(keyed).rejects.toThrow(
      new TypeError('POST /api/v2/webhooks takes no idempotency key: repeated, it might act twice.'),
    )
    expect(peer.requests).toEqual([])
    const headers = { 'Idempotency-Key': 'k4' }
    await expect(posthorn.post('/api/v2/webhooks', { body, headers })).rejects.toThrow(PosthornUnreachable)
    expect(peer.requests).toHaveLength(1)
  })

  it('wait while the first request with the same key is still running', async () => {
    const busy = { success: false, code: 'IDEMPOTENCY_KEY_CONFLICT', error: 'Under way.', requestId: 'req_3' }
    const posthorn = await client([json(409, busy, { 'retry-after': '1' }), json(200, { success: true })])
    await posthorn.post('/api/v2/messages/send', { body: { to: '+1', text: 'x' }, idempotencyKey: 'k3' })
    expect(waitsMs).toEqual([1_000])
  })

  it('stop after two, at once for a long Retry-After, and when the caller aborts', async () => {
    const posthorn = await client([later(1)])
    await expect(posthorn.get('/api/v2/wallet')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 })
    expect(peer.requests).toHaveLength(3)
    await peer.close()

    const patient = await client([later(600)])
    await expect(patient.get('/api/v2/wallet')).rejects.toMatchObject({ retryAfterSeconds: 600 })
    expect(peer.requests).toHaveLength(1)
    await peer.close()

    const given = new AbortController()
    const impatient = await client([later(1)], {
      sleep: async (_, signal) => {
        given.abort()
        signal.throwIfAborted()
      },
    })
    await expect(impatient.get('/api/v2/wallet', { signal: given.signal })).rejects.toMatchObject({
      name: 'AbortError',
    })
    expect(peer.requests).toHaveLength(1)
  })
})

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CATALOGUE } from '../../../src/contract/errors.ts'
import { isId } from '../../../src/lib/ids.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { type Frame, KEY, OPERATOR_TOKEN, sendRaw, splitRaw, startFrame } from './frame.ts'

let frame: Frame
beforeAll(async () => {
  frame = await startFrame()
})
afterAll(() => frame.close())

describe('every response', () => {
  it('carries a request id made by the server, in its header and in an error body', async () => {
    const headers = { 'x-request-id': 'chosen-by-the-client', 'request-id': 'so-is-this' }
    const right = await frame.call('GET', '/demo/items/a', { headers })
    const wrong = await frame.call('GET', '/nowhere', { headers })
    expect(isId('req', right.headers.get('x-request-id')!)).toBe(true)
    expect(isId('req', wrong.headers.get('x-request-id')!)).toBe(true)
    expect(wrong.body['requestId']).toBe(wrong.headers.get('x-request-id'))
    expect(right.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('to a caller has Cache-Control: no-store, also when the request is rejected or no route matches', async () => {
    const cacheOf = async (...[method, path, init]: Parameters<Frame['call']>) =>
      (await frame.call(method, path, init)).headers.get('cache-control')
    expect(await cacheOf('GET', '/demo/items/a')).toBe('no-store')
    expect(await cacheOf('POST', '/demo/echo', { body: {} })).toBe('no-store')
    expect(await cacheOf('GET', '/demo/items/a', { key: null })).toBe('no-store')
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    expect(await cacheOf('GET', '/demo/admin', { headers, key: null })).toBe('no-store')
    expect(await cacheOf('GET', '/nowhere')).toBe('no-store')
    expect(await cacheOf('DELETE', '/demo/items/a')).toBe('no-store')
  })

  it('is logged with request id, account, route and status, but without content or key', async () => {
    frame.log.length = 0
    frame.requests.length = 0
    const secret = 'code-4711'
    const headers = { 'idempotency-key': secret }
    const answer = await frame.call('POST', `/demo/echo?q=${secret}`, { body: { to: secret }, headers })
    await frame.call('GET', '/demo/items/a')
    const line = frame.log.find(entry => entry.fields['route'] === '/demo/echo')!
    expect(line).toEqual({
      level: 'info',
      text: 'request',
      fields: {
        requestId: answer.headers.get('x-request-id'),
        method: 'POST',
        route: '/demo/echo',
        status: 200,
        durationMs: expect.any(Number),
        accountId: 'acc_00000000000000000000000001',
      },
    })
    expect(JSON.stringify(frame.log)).not.toContain(secret)
    expect(JSON.stringify(frame.log)).not.toContain(KEY)
    expect(frame.requests[0]).toMatchObject({ method: 'POST', route: '/demo/echo', status: 200 })
  })

  it('is measured by route pattern, with all unknown paths as one', async () => {
    frame.requests.length = 0
    await frame.call('GET', '/a/b/c')
    await frame.call('GET', '/d')
    await frame.call('GET', '/demo/items/x')
    expect(frame.requests.map(request => request.route)).toEqual([
      'unmatched',
      'unmatched',
      '/demo/items/:itemId',
    ])
  })
})

describe('paths and methods', () => {
  it('returns 404 for an unknown path', async () => {
    for (const path of ['/', '/demo', '/demo/items/a/b', '/demo/echo/', '/DEMO/ECHO']) {
      const answer = await frame.call('GET', path)
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ success: false, code: 'NOT_FOUND', error: 'Not found.' })
    }
  })

  it('returns 405 with Allow for a path that supports other methods', async () => {
    const answer = await frame.call('DELETE', '/demo/items/a')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PUT')
    expect(answer.body).toMatchObject({ success: false, code: 'METHOD_NOT_ALLOWED' })
    expect((await frame.call('GET', '/demo/echo?x=1')).headers.get('allow')).toBe('POST')
    expect((await frame.call('OPTIONS', '/demo/echo')).status).toBe(405)
  })

  it('reads percent-encoded letters of a path like the letters themselves, for 404 and 405 too', async () => {
    const answer = await frame.call('DELETE', '/demo/%69tems/a')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT'])
    expect((await frame.call('GET', '/demo/%65cho')).headers.get('allow')).toBe('POST')
    expect((await frame.call('GET', '/demo/%65chos')).status).toBe(404)
  })

  it('returns 405 for methods that no route uses', async () => {
    const head = 'Host: x\r\nConnection: close\r\n\r\n'
    const answer = splitRaw(await sendRaw(frame.port, `PROPFIND /demo/echo HTTP/1.1\r\n${head}`))
    expect(answer.status).toBe(405)
    expect(answer.head).toMatch(/^allow: POST$/im)
  })

  it('returns 404 for an unknown path, even if the body is invalid', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await frame.call('POST', '/nowhere', { body: 'x', headers })).status).toBe(404)
    expect((await frame.call('POST', '/nowhere', { body: '{"broken' })).status).toBe(404)
  })

  it('answers HEAD as GET, without a body', async () => {
    const answer = await frame.call('HEAD', '/demo/items/a')
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0)
    expect((await frame.call('HEAD', '/demo/items/a', { key: null })).status).toBe(401)
  })
})

describe('a failing handler', () => {
  it.each(['unknown', 'string', 'status', 'slipped', 'reset', 'closed'])(
    'returns a 500 without details (%s) and is logged once',
    async how => {
      frame.log.length = 0
      const answer = await frame.call('GET', how === 'slipped' ? '/demo/slipped' : `/demo/fails/${how}`)
      expect(answer.status).toBe(500)
      expect(answer.body).toEqual({
        success: false,
        code: 'INTERNAL_ERROR',
        error: CATALOGUE.INTERNAL_ERROR.text,
        requestId: answer.headers.get('x-request-id'),
      })
      const errors = frame.log.filter(entry => entry.level === 'error')
      expect(errors).toHaveLength(1)
      expect(errors[0]!.fields['requestId']).toBe(answer.headers.get('x-request-id'))
      expect(String(errors[0]!.fields['err'])).toMatch(how === 'slipped' ? /own schema/ : /hunter2/)
    },
  )

  it('that returns an unlisted error code is reported when responses are checked', async () => {
    const answer = await frame.call('GET', '/demo/fails/unlisted')
    expect(answer.body['message']).toBe(
      'GET /demo/fails/:how responds with CONFLICT, which its schema does not list',
    )
  })

  it('returns 503 with Retry-After while the database is unavailable, logged without a stack', async () => {
    frame.log.length = 0
    const answer = await frame.call('GET', '/demo/fails/database')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.body).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
    expect(answer.text).not.toContain('hunter2')
    const failures = frame.log.filter(entry => entry.text !== 'request')
    expect(failures).toEqual([
      {
        level: 'warn',
        fields: {
          requestId: answer.headers.get('x-request-id'),
          code: 'SERVICE_UNAVAILABLE',
          method: 'GET',
          route: '/demo/fails/:how',
          reason: 'Error: connect ECONNREFUSED /hunter2',
        },
        text: 'refused: the database is unavailable',
      },
    ])
  })

  it('passes Retry-After and extra fields of a Problem to the response', async () => {
    const provider = await frame.call('GET', '/demo/fails/provider')
    expect(provider.headers.get('retry-after')).toBe('7')
    expect(provider.body).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryAfterSeconds: 7 })
    const balance = await frame.call('GET', '/demo/fails/balance')
    expect(balance.status).toBe(402)
    expect(balance.body).toMatchObject({ code: 'INSUFFICIENT_BALANCE', attemptsRemaining: 0 })
    expect(balance.headers.get('retry-after')).toBeNull()
  })
})

describe('malformed or unusual requests', () => {
  const close = 'Host: x\r\nConnection: close\r\n'

  it.each([
    ['bytes that are not HTTP', 'garbage\r\n\r\n'],
    ['an unknown method', `FLY / HTTP/1.1\r\n${close}\r\n`],
    ['a header without a colon', `GET / HTTP/1.1\r\nHost x\r\n\r\n`],
    [
      'two Content-Length headers',
      `POST /demo/echo HTTP/1.1\r\n${close}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    ],
    [
      'both Content-Length and a chunked encoding',
      `POST /demo/echo HTTP/1.1\r\n${close}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])('return 400 with the usual error body: %s', async (_, bytes) => {
    const answer = splitRaw(await sendRaw(frame.port, bytes))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' })
    expect(answer.head).toContain(`X-Request-Id: ${answer.body['requestId']}`)
  })

  it('return 400 without a Host header in HTTP/1.1, but not in HTTP/1.0', async () => {
    const lines = (version: string) =>
      `GET /demo/items/a HTTP/${version}\r\nX-API-Key: ${KEY}\r\nConnection: close`
    const answer = splitRaw(await sendRaw(frame.port, `${lines('1.1')}\r\n\r\n`))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'Host' }] })
    expect(answer.head.toLowerCase()).toContain(`x-request-id: ${answer.body['requestId']}`)
    expect(splitRaw(await sendRaw(frame.port, `${lines('1.0')}\r\n\r\n`)).status).toBe(200)
    const expecting = `${lines('1.1')}\r\nHost: x\r\nExpect: the-unknown\r\n\r\n`
    expect(splitRaw(await sendRaw(frame.port, expecting)).status).toBe(200)
  })

  it.each([
    ['without a key', '/demo/echo', 'Content-Length: 9', 401],
    ['with too long a body', '/demo/echo', `X-API-Key: ${KEY}\r\nContent-Length: 2000000`, 413],
    ['with another type', '/demo/echo', `X-API-Key: ${KEY}\r\nContent-Type: a/b\r\nContent-Length: 9`, 415],
  ])('are refused %s before their body is sent, if they expect a 100', async (_, path, headers, status) => {
    const json = headers.includes('Content-Type') ? '' : 'Content-Type: application/json\r\n'
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n${json}${headers}\r\nExpect: 100-continue\r\n\r\n`
    const answer = splitRaw(await sendRaw(frame.port, head))
    expect(answer.status).toBe(status)
    expect(answer.head.toLowerCase()).toContain('connection: close')
  })

  it('are told of a refusal also if they expect a 100 and do not wait for it', async () => {
    const body = Buffer.alloc(8 * 1_048_576, ' ')
    const head = `POST /demo/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`
    for (let tries = 0; tries < 8; tries++) {
      const whole = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body])
      expect(splitRaw(await sendRaw(frame.port, whole)).status).toBe(401)
    }
  })

  it('get the 100 that they expect when their body is read', async () => {
    const head = `POST /demo/echo HTTP/1.1\r\n${close}Content-Type: application/json\r\nX-API-Key: ${KEY}\r\n`
    const socket = connect(frame.port, '127.0.0.1')
    socket.write(`${head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`)
    expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{"to":"a"}')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
    await once(socket, 'close')
  })

  it.each([
    ['two hosts', 'Host: a.example\r\nhost: b.example'],
    ['the same host twice', 'Host: a.example\r\nHost: a.example'],
    ['a path', 'Host: a.example/reset?'],
    ['a user name', 'Host: posthorn.example@b.example'],
    ['a space', 'Host: a.example b.example'],
    ['a backslash', 'Host: b.example\\.a.example'],
    ['an invalid port', 'Host: a.example:80b'],
  ])('return 400 for an invalid Host header: %s', async (_, hosts) => {
    const lines = (version: string) =>
      `GET /demo/items/a HTTP/${version}\r\n${hosts}\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`
    for (const version of ['1.1', '1.0']) {
      const answer = splitRaw(await sendRaw(frame.port, lines(version)))
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'Host' }] })
    }
  })

  it.each(['a.example', 'A.example:8080', 'shop_1', '10.0.0.1:80', '[::1]:8080', '[fe80::1%25eth0]', ''])(
    'are accepted with the Host header “%s”',
    async host => {
      const lines = `GET /demo/items/a HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${KEY}\r\nConnection: close`
      expect(splitRaw(await sendRaw(frame.port, `${lines}\r\n\r\n`)).status).toBe(200)
    },
  )

  it('return 431 when their headers are too large', async () => {
    const answer = splitRaw(
      await sendRaw(frame.port, `GET / HTTP/1.1\r\n${close}X: ${'x'.repeat(20_000)}\r\n\r\n`),
    )
    expect(answer.status).toBe(431)
    expect(answer.body).toMatchObject({ success: false, code: 'HEADERS_TOO_LARGE' })
  })

  it('get a 404 if they ask for a tunnel, and the connection is closed', async () => {
    const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'
    const answer = splitRaw(await sendRaw(frame.port, tunnel))
    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ success: false, code: 'NOT_FOUND', requestId: expect.any(String) })
    // Behind a request that has no response yet, it ends the connection.
    const whole = `POST /demo/echo HTTP/1.1\r\n${close.replace('close', 'keep-alive')}X-API-Key: ${KEY}\r\n\r\n${tunnel}`
    await sendRaw(frame.port, whole)
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
  })

  it.each([
    ['arrive too slowly', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', 408],
    ['ask for a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', 404],
  ])('that %s lose their connection soon after the response', async (_, bytes, status) => {
    const clock = createFakeClock()
    const refusing = await startFrame({ clock })
    const { server } = refusing.app
    const accepted = once(server, 'connection')
    const client = connect({ port: refusing.port, host: '127.0.0.1', allowHalfOpen: true })
    client.write(bytes)
    const [served] = (await accepted) as [Socket]
    // What Node emits when the time is over.
    if (status === 408) server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, served)
    const [answer] = await once(client, 'data')
    expect(splitRaw(String(answer)).status).toBe(status)
    await once(client, 'end')
    client.write('more')
    expect(served.destroyed).toBe(false)
    await clock.advance(5_000)
    expect(served.destroyed).toBe(true)
    client.destroy()
    await refusing.close()
  })

  it('cut off in the middle of the body do not affect later requests', async () => {
    const socket = connect(frame.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /demo/echo HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"to"`,
    )
    socket.destroy()
    await once(socket, 'close')
    expect((await frame.call('GET', '/demo/items/a')).status).toBe(200)
  })

  it('that are pipelined get their responses in order', async () => {
    const one = (path: string, last: boolean) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`
    const answer = await sendRaw(
      frame.port,
      one('/demo/items/a', false) + one('/nowhere', false) + one('/demo/items/b', true),
    )
    expect(answer.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
  })
})

describe('stopping the server', () => {
  it('finishes requests in flight and closes idle connections at once', async () => {
    // The clock stands still, so nothing here may depend on the deadline.
    const own = await startFrame({ clock: createFakeClock() })
    const silent = connect(own.port, '127.0.0.1')
    await once(silent, 'connect')
    const silentClosed = once(silent, 'close')
    silent.resume()
    const entered = once(own.app.server, 'request')
    const busy = own.call('POST', '/demo/large', { body: { base64: 'QUJD'.repeat(4_000_000) } })
    await entered
    await own.close()
    const answer = await busy
    // Otherwise the client would send its next request over a connection that is closing.
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    await silentClosed
    await expect(own.call('GET', '/demo/items/a')).rejects.toThrow()
  })

  it('cuts requests that do not finish before the deadline', async () => {
    const clock = createFakeClock()
    const own = await startFrame({ clock })
    const stuck = connect(own.port, '127.0.0.1')
    const stuckClosed = once(stuck, 'close')
    stuck.on('error', () => undefined).resume()
    const entered = once(own.app.server, 'request')
    stuck.write(
      `POST /demo/large HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`,
    )
    await entered
    const stopped = own.close()
    // The deadline is set when the close hooks run.
    while (clock.pending() === 0) await new Promise(setImmediate)
    await clock.advance(5_000)
    await stopped
    await stuckClosed
  })
})

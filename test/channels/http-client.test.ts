import { afterEach, describe, expect, test } from 'vitest'
import { createHttpClient, type HttpClient } from '../../src/channels/http/client.ts'
import { createCertificate } from '../support/certificate.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { type HttpPeer, type PeerAct, startHttpPeer, startMutePeer } from '../support/http-peer.ts'
import { never, settled } from './conformance.ts'

const open: { client: HttpClient; peer: HttpPeer }[] = []
afterEach(async () => {
  for (const { client, peer } of open.splice(0)) {
    client.close()
    await peer.close()
  }
})

type Options = { connections?: number; tlsCa?: string; clock?: ReturnType<typeof createFakeClock> }

function clientOf(peer: HttpPeer, { connections = 1, tlsCa, clock = createFakeClock() }: Options = {}) {
  const client = createHttpClient({ origin: new URL(peer.url), connections, clock, tlsCa })
  open.push({ client, peer })
  return client
}

const POST = { method: 'POST', path: '/', headers: {}, body: 'x' } as const
const OK: PeerAct = { status: 200, body: 'ok' }

describe('the result of a request', () => {
  test('is lost when the signal aborts after the request was written, even after the connect deadline', async () => {
    const clock = createFakeClock()
    const peer = await startHttpPeer((_, nth) => (nth === 1 ? OK : 'silent'))
    const client = clientOf(peer, { clock })
    const stop = new AbortController()
    const first = client.exchange(POST, never())
    const second = client.exchange(POST, stop.signal)
    expect((await settled(first, 'the first')).kind).toBe('answer')
    await settled(peer.submitted(2), 'the second request')
    expect(peer.connections()).toBe(1)
    await clock.advance(60_000)
    stop.abort()
    expect(await settled(second, 'the second')).toEqual({ kind: 'lost', code: 'ABORTED' })
  })

  test('is unsent when the signal aborts while the request waits for a connection', async () => {
    const peer = await startHttpPeer(() => 'silent')
    const client = clientOf(peer)
    const stop = new AbortController()
    const first = client.exchange(POST, stop.signal)
    await settled(peer.submitted(1), 'the first request')
    const waiting = new AbortController()
    const second = client.exchange(POST, waiting.signal)
    waiting.abort()
    expect(await settled(second, 'the second')).toEqual({ kind: 'unsent', code: 'ABORTED' })
    stop.abort()
    expect((await settled(first, 'the first')).kind).toBe('lost')
    expect(peer.requests).toHaveLength(1)
  })

  test('is unsent when a header is invalid in HTTP', async () => {
    const peer = await startHttpPeer(() => OK)
    const client = clientOf(peer)
    const headers = { 'X-Key': 'a\nb' }
    expect(await client.exchange({ ...POST, headers }, never())).toEqual({
      kind: 'unsent',
      code: 'ERR_INVALID_CHAR',
    })
    expect(peer.requests).toHaveLength(0)
  })

  test('is unsent when the TLS handshake is not done within 5 s', async () => {
    const clock = createFakeClock()
    const peer = await startMutePeer()
    const exchange = clientOf(peer, { clock }).exchange(POST, never())
    await settled(peer.connected(1), 'the connection')
    await clock.advance(5_000)
    expect(await settled(exchange, 'exchange()')).toEqual({ kind: 'unsent', code: 'CONNECT_TIMEOUT' })
  })

  test('is not limited by the connect deadline once the connection is established', async () => {
    const clock = createFakeClock()
    const peer = await startHttpPeer(() => 'silent')
    const exchange = clientOf(peer, { clock }).exchange(POST, never())
    await settled(peer.submitted(1), 'the request')
    expect(clock.pending()).toBe(0)
    open[0]!.client.close()
    expect((await settled(exchange, 'exchange()')).kind).toBe('lost')
  })

  test.each<[string, PeerAct, string]>([
    [
      'a truncated response',
      { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"sid":"SM1"}' },
      'ECONNRESET',
    ],
    ['a connection that ends without a response', { raw: '' }, 'ECONNRESET'],
    [
      'a response that switches protocols',
      { raw: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n' },
      'NO_ANSWER',
    ],
    ['a response of more than 256 KiB', { status: 200, body: 'x'.repeat(300_000) }, 'ANSWER_TOO_LARGE'],
    [
      'response headers that are too large',
      { status: 200, headers: { 'X-Long': 'x'.repeat(20_000) } },
      'HPE_HEADER_OVERFLOW',
    ],
  ])('is lost after %s', async (_, act, code) => {
    const peer = await startHttpPeer(() => act)
    expect(await settled(clientOf(peer).exchange(POST, never()), 'exchange()')).toEqual({
      kind: 'lost',
      code,
    })
  })
})

describe('connections', () => {
  test('never exceed the configured number', async () => {
    const peer = await startHttpPeer(() => OK)
    const client = clientOf(peer, { connections: 3 })
    const all = Array.from({ length: 50 }, () => client.exchange(POST, never()))
    const kinds = (await settled(Promise.all(all), 'the exchanges')).map(each => each.kind)
    expect(new Set(kinds)).toEqual(new Set(['answer']))
    expect(peer.connections()).toBeLessThanOrEqual(3)
  })

  test('over TLS with a trusted CA are established and reused', async () => {
    const certificate = createCertificate(['127.0.0.1'])
    const peer = await startHttpPeer(() => OK, certificate)
    const trusting = clientOf(peer, { tlsCa: certificate.cert })
    expect((await settled(trusting.exchange(POST, never()), 'exchange()')).kind).toBe('answer')
    expect((await settled(trusting.exchange(POST, never()), 'exchange()')).kind).toBe('answer')
    expect(peer.connections()).toBe(1)
  })

  test('over TLS with an untrusted certificate send nothing', async () => {
    const peer = await startHttpPeer(() => OK, createCertificate(['127.0.0.1']))
    const exchange = await settled(clientOf(peer).exchange(POST, never()), 'exchange()')
    expect(exchange).toEqual({ kind: 'unsent', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(peer.requests).toHaveLength(0)
  })

  test('over TLS with a certificate for another name send nothing', async () => {
    const certificate = createCertificate(['192.0.2.1'])
    const peer = await startHttpPeer(() => OK, certificate)
    const client = clientOf(peer, { tlsCa: certificate.cert })
    const exchange = await settled(client.exchange(POST, never()), 'exchange()')
    expect(exchange).toEqual({ kind: 'unsent', code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(peer.requests).toHaveLength(0)
  })
})

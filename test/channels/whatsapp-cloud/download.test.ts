import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { FileUnavailable, type Link } from '../../../src/channels/provider.ts'
import { whatsAppCloudProvider } from '../../../src/channels/whatsapp-cloud.ts'
import { type HttpPeer, nobodyListens, type PeerAct, startHttpPeer } from '../../support/http-peer.ts'
import { createIo, never } from '../conformance.ts'
import {
  ACCESS_TOKEN,
  graphError,
  PHONE_NUMBER_ID,
  whatsAppCloudFixture,
} from '../whatsapp-cloud.exchange.ts'

/** A response as in the documentation of media downloads. It is scripted, because there is no independent server for it. */
const described = (url: unknown): PeerAct => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ messaging_product: 'whatsapp', url, mime_type: 'image/jpeg', id: '4711' }),
})

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(each => each.close()))
})

async function connect(act: (path: string, url: string) => PeerAct): Promise<{ link: Link; peer: HttpPeer }> {
  const peer: HttpPeer = await startHttpPeer(({ path }) => act(path, peer.url))
  const link = await whatsAppCloudProvider.open(whatsAppCloudFixture.configFor(peer.url), createIo())
  open.push(link, peer)
  return { link, peer }
}

const ask = (link: Link, reference = '4711', signal = never()) =>
  link.openMedia!({ accountId: 'acc_1', to: '+15550783881', reference }, signal)
const refusal = (link: Link, reference?: string) =>
  ask(link, reference).then(
    () => null,
    error => error,
  )

describe('a file of an inbound message', () => {
  test('is downloaded with the token from the URL that Graph returns', async () => {
    const bytes = Buffer.from([0xff, 0xd8, 0, 1, 2, 3])
    const { link, peer } = await connect((path, url) =>
      path === '/file?x=1' ? { status: 200, body: bytes.toString('latin1') } : described(`${url}/file?x=1`),
    )
    const got = await buffer(await ask(link))
    expect(got.toString('utf8')).toBe(bytes.toString('latin1'))
    expect(peer.requests.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', `/v25.0/4711?phone_number_id=${PHONE_NUMBER_ID}`, `Bearer ${ACCESS_TOKEN}`],
      ['GET', '/file?x=1', `Bearer ${ACCESS_TOKEN}`],
    ])
  })

  test.each([
    ['on another host', 'https://evil.example/file'],
    ['on a host whose name only ends like that of WhatsApp', 'https://notfbsbx.com/file'],
    ['on WhatsApp’s host without TLS', 'http://lookaside.fbsbx.com/file'],
    ['not a valid URL', 'file'],
    ['missing', undefined],
  ])('is unavailable, and no token is sent, when the URL is %s', async (_, url) => {
    const { link, peer } = await connect(() => described(url))
    expect(await refusal(link)).toMatchObject({ name: 'FileUnavailable', retryable: true })
    expect(peer.requests).toHaveLength(1)
  })

  test('is unavailable for an invalid id, without a request', async () => {
    const { link, peer } = await connect(() => described(''))
    for (const reference of ['', '../me', '4711?x', '٣']) {
      expect(await refusal(link, reference)).toMatchObject({ retryable: false })
    }
    expect(peer.requests).toEqual([])
  })

  test.each<[string, PeerAct, boolean]>([
    ['Graph has no file with its id', graphError(400, 100, { error_subcode: 33 }), false],
    ['Graph returns 503', graphError(503, 131016), true],
    ['the token is invalid', graphError(401, 190), true],
    ['the connection to Graph is reset', 'reset', true],
  ])('is unavailable because %s', async (_, answer, retryable) => {
    const { link } = await connect(() => answer)
    expect(await refusal(link)).toMatchObject({ name: 'FileUnavailable', retryable })
  })

  test.each<[string, PeerAct, boolean]>([
    ['returns 404', { status: 404 }, false],
    ['redirects to another host', { status: 302, headers: { Location: 'https://evil.example/' } }, true],
    ['returns 500', { status: 500 }, true],
    ['resets the connection', 'reset', true],
  ])('is unavailable when its URL %s', async (_, answer, retryable) => {
    const { link } = await connect((path, url) => (path === '/file' ? answer : described(`${url}/file`)))
    expect(await refusal(link)).toMatchObject({ name: 'FileUnavailable', retryable })
  })

  test('that is truncated fails while it is read', async () => {
    const cut = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'
    const { link } = await connect((path, url) =>
      path === '/file' ? { raw: cut } : described(`${url}/file`),
    )
    await expect(buffer(await ask(link))).rejects.toThrow()
  })

  test('is given up when the signal aborts', async () => {
    const { link, peer } = await connect((path, url) =>
      path === '/file' ? 'silent' : described(`${url}/file`),
    )
    const giveUp = new AbortController()
    const asked = ask(link, '4711', giveUp.signal).catch(error => error)
    await peer.submitted(2)
    giveUp.abort()
    expect(await asked).toBeInstanceOf(FileUnavailable)
  })

  test('is unavailable when the connection to Graph is refused', async () => {
    const { url } = await nobodyListens()
    const link = await whatsAppCloudProvider.open(whatsAppCloudFixture.configFor(url), createIo())
    open.push(link)
    expect(await refusal(link)).toMatchObject({ name: 'FileUnavailable', retryable: true })
  })
})

import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Links } from '../../../src/channels/links.ts'
import { createInboundDoor } from '../../../src/compose/link-io.ts'
import type { InboundReceiver, InboundRequest } from '../../../src/contract/inbound.ts'
import { webhooksReceive, webhooksReceiveByGet } from '../../../src/http/routes/webhooks-receive.ts'
import { DatabaseUnavailable } from '../../../src/infra/db.ts'
import { exampleGateway } from '../../channels/http-sms.exchange.ts'
import { ACCOUNT, AUTH_TOKEN, twilioFixture } from '../../channels/twilio.exchange.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type HttpPeer, startHttpPeer } from '../../support/http-peer.ts'
import { startFrame } from '../frame/frame.ts'

const PUBLIC_URL = 'https://posthorn.example.org/sms'

let app: TestApp
let peer: HttpPeer
let account: TestAccount
let connectionId: string
let connections = 0

beforeAll(async () => {
  peer = await startHttpPeer((_, nth) => twilioFixture.taken(nth))
  app = await startTestApp({ env: { POSTHORN_PUBLIC_URL: PUBLIC_URL } })
  account = await app.createAccount()
  connectionId = await connect('twilio', { ...twilioFixture.configFor(peer.url) })
}, 60_000)
afterAll(async () => {
  await app.stop()
  await peer.close()
})

async function connect(provider: string, config: unknown, more = {}): Promise<string> {
  const body = {
    provider,
    name: `${provider} ${++connections}`,
    channels: ['int_sms'],
    config,
    ...more,
  }
  const answer = await app.admin('POST', '/connections', body)
  expect(answer.status, answer.text).toBe(201)
  const { connection } = answer.body['data'] as { connection: { id: string } }
  return connection.id
}

/** Calls the webhook URL as Twilio does, with its signature. */
function postStatus(url: string, fields: Record<string, string>, token = AUTH_TOKEN): Promise<Answer> {
  const text =
    url +
    Object.keys(fields)
      .sort()
      .map(name => name + fields[name])
      .join('')
  return app.call(url.slice(PUBLIC_URL.length), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', token).update(text).digest('base64'),
    },
    body: new URLSearchParams(fields).toString(),
  })
}

const callback = (id = connectionId) => `${PUBLIC_URL}/webhooks/twilio/${id}`
const STATUS = { MessageSid: 'SM0', MessageStatus: 'delivered' }

describe('a send and its receipt', () => {
  test('a Twilio receipt marks the message as delivered, and a repeated one changes nothing', async () => {
    const sent = await app.during(
      account.send({ to: '+447700900123', channel: 'int_sms', text: 'Hello' }, { live: true }),
    )
    expect(sent.status, sent.text).toBe(200)
    const form = new URLSearchParams(peer.requests.at(-1)!.body)
    expect(form.get('StatusCallback')).toBe(`${callback()}?attempt=${messageIdOf(sent)}.1`)
    const sid = `SM${String(peer.requests.length).padStart(32, '0')}`

    const answer = await app.during(postStatus(form.get('StatusCallback')!, { ...STATUS, MessageSid: sid }))
    expect([answer.status, answer.text]).toEqual([200, 'OK'])
    // The receipt is stored before the response, so there is no waiting.
    const message = await account.message(messageIdOf(sent))
    expect(message.status).toBe('delivered')

    expect((await app.during(postStatus(callback(), { ...STATUS, MessageSid: sid }))).status).toBe(200)
    expect(
      (await app.during(postStatus(callback(), { ...STATUS, MessageSid: sid, MessageStatus: 'sent' })))
        .status,
    ).toBe(200)
    expect((await account.message(messageIdOf(sent))).status).toBe('delivered')
    expect((await account.message(messageIdOf(sent))).timeline).toHaveLength(message.timeline.length)
  })

  test('a receipt is accepted for a connection that was disabled after the send', async () => {
    const to = await connect('twilio', twilioFixture.configFor(peer.url), { accountId: account.id })
    const sent = await app.during(
      account.send({ to: '+447700900123', channel: 'int_sms', text: 'Hello' }, { live: true }),
    )
    const form = new URLSearchParams(peer.requests.at(-1)!.body)
    expect(form.get('StatusCallback')).toContain(to)
    const sid = `SM${String(peer.requests.length).padStart(32, '0')}`
    const requests = peer.requests.length
    const disabled = await app.admin('PATCH', `/connections/${to}`, { enabled: false })
    expect(disabled.body['data']).toMatchObject({ enabled: false, state: { link: 'closed' } })
    const answer = await app.during(postStatus(form.get('StatusCallback')!, { ...STATUS, MessageSid: sid }))
    expect([answer.status, (await account.message(messageIdOf(sent))).status]).toEqual([200, 'delivered'])
    expect((await app.during(postStatus(callback(to), STATUS, 'another-token'))).status).toBe(401)
    // A disabled connection accepts receipts, but sends nothing.
    const test = await app.admin('POST', `/connections/${to}/test`)
    expect(test.body['data']).toMatchObject({ ok: false })
    expect(peer.requests).toHaveLength(requests)
  })

  test('the auth token is neither returned nor logged', async () => {
    expect(app.log.join('')).not.toContain(AUTH_TOKEN)
    const listed = await app.admin('GET', '/connections')
    expect(listed.text).toContain(ACCOUNT)
    expect(listed.text).not.toContain(AUTH_TOKEN)
  })
})

describe('a gateway described by its configuration', () => {
  test('is rejected when its configuration is invalid', async () => {
    const config = { ...exampleGateway(peer.url), secrets: {} }
    const answer = await app.admin('POST', '/connections', {
      provider: 'http-sms',
      name: 'broken',
      channels: ['int_sms'],
      config,
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('unknown placeholder {{secret.token}}')
  })

  test('is stored with its secrets separate, and its receipts get the configured response', async () => {
    const config = {
      ...exampleGateway(peer.url),
      receipts: {
        format: 'query',
        id: 'id',
        status: 'stat',
        statuses: { '1': 'delivered' },
        proof: { by: 'basic', user: 'gw', secret: 'hook' },
        reply: { status: 200, contentType: 'text/plain', body: 'ACK/Example' },
      },
    }
    const id = await connect('http-sms', config)
    const listed = await app.admin('GET', '/connections')
    const connections = listed.body['data'] as { id: string; config: unknown }[]
    const { secrets, ...shown } = config
    expect(connections.find(each => each.id === id)!.config).toEqual(shown)
    expect(listed.text).not.toContain(secrets!['token'])

    const authorization = `Basic ${Buffer.from(`gw:${secrets!['hook']}`).toString('base64')}`
    const path = `/webhooks/http-sms/${id}?id=a&stat=1`
    const answer = await app.during(app.call(path, { headers: { authorization } }))
    expect([answer.status, answer.text]).toEqual([200, 'ACK/Example'])
    expect((await app.call(path)).status).toBe(401)
  })
})

describe('authentication of provider webhooks', () => {
  test('a wrong signature is 401', async () => {
    const answer = await app.during(postStatus(callback(), STATUS, 'another-token'))
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ success: false, code: 'UNAUTHORIZED' })
  })

  test('a call without a signature is 401, by GET or POST, with any content type', async () => {
    const path = `/webhooks/twilio/${connectionId}`
    expect((await app.call(path)).status).toBe(401)
    expect((await app.call(path, { method: 'POST' })).status).toBe(401)
    for (const type of ['application/json', 'text/xml', 'application/x-strange; a=b']) {
      const answer = await app.call(path, { method: 'POST', headers: { 'content-type': type }, body: '{{{' })
      expect(answer.status, type).toBe(401)
    }
  })

  test('a signed call with unknown content is 400', async () => {
    const answer = await app.during(postStatus(callback(), { Hello: 'there' }))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('a connection that is unknown, of another provider or without webhooks is 404', async () => {
    for (const path of [
      '/webhooks/twilio/cnn_00000000000000000000000001',
      '/webhooks/twilio/nonsense',
      `/webhooks/vonage/${connectionId}`,
      `/webhooks/nobody/${connectionId}`,
    ]) {
      expect((await app.call(path, { method: 'POST', body: 'x' })).status, path).toBe(404)
    }
    const { body } = await app.admin('GET', '/connections')
    const sandbox = (body['data'] as { id: string; provider: string }[]).find(
      each => each.provider === 'sandbox',
    )!
    expect((await app.call(`/webhooks/sandbox/${sandbox.id}`, { method: 'POST', body: 'x' })).status).toBe(
      404,
    )
  })

  test('a connection that this node has not opened yet is 503, so that the provider retries', async () => {
    const links = { webhookLink: () => undefined } as unknown as Links
    const isWanted = async (provider: string) => provider === 'twilio'
    const door = createInboundDoor(links, {} as never, {} as never, isWanted)
    const receive = (provider: string) => door.receive(provider, connectionId, {} as InboundRequest)
    await expect(door.accepts('twilio', connectionId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await door.accepts('vonage', connectionId)).toBe(false)
    await expect(receive('twilio')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await receive('vonage')).toEqual({ kind: 'unknown' })
  })

  test.each([
    ['an unknown connection', () => 'twilio/cnn_00000000000000000000000000'],
    ['a malformed connection id', () => 'twilio/x'],
    ['a connection of another provider', () => `vonage/${connectionId}`],
    ['an unknown bot', () => 'botapp/bot_00000000000000000000000000'],
  ])('a call for %s is rejected before its body is read', async (_, path) => {
    const socket = connectTo(Number(new URL(app.url).port), '127.0.0.1')
    socket.write(`POST /webhooks/${path()} HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\nx`)
    const [answer] = await app.during(once(socket, 'data'))
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /)
  })

  test('a body of more than 3 MiB is 413', async () => {
    const body = 'x'.repeat(3 * 1_048_576 + 1)
    const answer = await app.call(`/webhooks/twilio/${connectionId}`, { method: 'POST', body })
    expect(answer.status).toBe(413)
  })

  test('another method is 405', async () => {
    const answer = await app.call(`/webhooks/twilio/${connectionId}`, { method: 'PUT', body: 'x' })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toContain('POST')
  })
})

describe('the request passed to the provider’s link', () => {
  async function through(receive: (request: InboundRequest) => ReturnType<InboundReceiver['receive']>) {
    const deps = {
      inbound: {
        accepts: async () => true,
        receive: (_: string, __: string, request: InboundRequest) => receive(request),
      },
      publicUrl: PUBLIC_URL,
    }
    return startFrame({ routes: [webhooksReceive(deps), webhooksReceiveByGet(deps)] })
  }

  test('has the raw body, the URL as called, and headers by lower-case name', async () => {
    const seen: InboundRequest[] = []
    const frame = await through(async request => {
      seen.push(request)
      return { kind: 'stored', reply: { status: 202, contentType: 'text/xml', body: '<ok/>' } }
    })
    const body = Buffer.from([0, 255, 123, 10])
    const path = '/webhooks/x/y?b=%20&a=1&a=2'
    const headers = { 'content-type': 'application/octet-stream', 'X-Some': 'Thing' }
    const answer = await frame.call('POST', path, { body, headers })
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      202,
      '<ok/>',
      'text/xml',
    ])
    await frame.call('GET', path)
    await frame.close()
    expect(seen[0]).toMatchObject({ method: 'POST', url: PUBLIC_URL + path, query: 'b=%20&a=1&a=2', body })
    expect(seen[0]!.headers['x-some']).toBe('Thing')
    expect(seen[1]).toMatchObject({ method: 'GET', url: PUBLIC_URL + path, body: Buffer.alloc(0) })
  })

  test('is answered with 503 when it cannot be stored', async () => {
    const frame = await through(() => Promise.reject(new DatabaseUnavailable(new Error('gone'))))
    const answer = await frame.call('POST', '/webhooks/x/y', { body: 'x' })
    await frame.close()
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})

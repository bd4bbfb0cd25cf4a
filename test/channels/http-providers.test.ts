import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpSmsConfig, httpSmsConfig } from '../../src/channels/http-sms/config.ts'
import type { Io, Link, Outgoing, Provider } from '../../src/channels/provider.ts'
import { type HttpPeer, type PeerAct, startHttpPeer } from '../support/http-peer.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'
import { type HttpFixture, SMS } from './http-fixture.ts'
import { exampleGateway, httpSmsFixture } from './http-sms.exchange.ts'
import { API_KEY, infobipFixture } from './infobip.exchange.ts'
import { twilioFixture } from './twilio.exchange.ts'
import { vonageFixture } from './vonage.exchange.ts'

const open: { link: Link; peer: HttpPeer }[] = []
afterEach(async () => {
  for (const { link, peer } of open.splice(0)) {
    await link.close()
    await peer.close()
  }
})

async function start<C>(
  provider: Provider<C>,
  configFor: (url: string) => C,
  act: (nth: number) => PeerAct,
  io: Io = createIo(),
) {
  const peer = await startHttpPeer((_, nth) => act(nth))
  const link = await provider.open(configFor(peer.url), io)
  open.push({ link, peer })
  return {
    link,
    peer,
    send: (more: Partial<Outgoing> = {}) =>
      settled(link.send(outgoing(1, { ...SMS, ...more }), never()), 'send()'),
  }
}

describe('an http-sms configuration that cannot work is rejected', () => {
  const { request, ...rest } = exampleGateway('https://gateway.example.com')
  const accepts = Compile(httpSmsConfig)

  test.each<[string, Partial<HttpSmsConfig>, string]>([
    ['an unknown placeholder', { request: { ...request, json: { a: ['{{ nope }}'] } } }, '{{nope}}'],
    ['an unknown secret', { request: { ...request, headers: { X: '{{secret.nope}}' } } }, 'secret.nope'],
    ['an invalid header name', { request: { ...request, headers: { 'X Key': 'x' } } }, 'request.headers'],
    [
      'a header value that HTTP cannot contain',
      { probe: { url: request.url, headers: { 'X-Key': 'ключ' } } },
      'probe.headers',
    ],
    ['two bodies', { request: { ...request, xml: '<a/>' } }, 'one body'],
    ['a GET with a body', { request: { ...request, method: 'GET' } }, 'GET'],
    ['a probe of another host', { probe: { url: 'https://gateway.example.com.evil.example/' } }, 'probe'],
    [
      'a probe with a placeholder of a message',
      { probe: { url: 'https://gateway.example.com/{{to}}' } },
      '{{to}}',
    ],
    ['an invalid regular expression', { answer: { format: 'text', id: '(' } }, 'answer.id'],
    ['an answer with neither an id nor a status', { answer: { format: 'text', error: 'x' } }, 'answer.id'],
    ['a proof whose secret is missing', { secrets: { token: 'x' } }, 'receipts.proof'],
  ])('because of %s', (_, change, words) => {
    const config = { request, ...rest, ...change }
    expect(accepts.Check(config)).toBe(false)
    expect(
      Value.Errors(httpSmsConfig, config)
        .map(fault => fault.message)
        .join(),
    ).toContain(words)
  })

  test.each([
    ['a placeholder in the host', 'https://{{to}}.example.com/'],
    ['a user name and a password', 'https://user:pw@gateway.example.com/'],
    ['a scheme other than http and https', 'file:///etc/passwd'],
    ['a fragment', 'https://gateway.example.com/#a'],
  ])('because its URL has %s', (_, url) => {
    expect(accepts.Check({ ...rest, request: { ...request, url } })).toBe(false)
  })
})

test('the examples of the http-sms guide are valid configurations', () => {
  const guide = readFileSync(new URL('../../docs/providers-http-sms.md', import.meta.url), 'utf8')
  const examples = [...guide.matchAll(/^```json\n(.*?)^```/gms)].map(match => JSON.parse(match[1]!) as object)
  expect(examples).toHaveLength(4)
  const whole = examples.find(example => 'request' in example)
  for (const example of examples) {
    // One example shows only a part of a configuration.
    const config = 'request' in example ? example : { ...whole, ...example }
    expect(Value.Errors(httpSmsConfig, config)).toEqual([])
  }
})

describe.each<[string, HttpFixture<unknown>]>([
  ['twilio', twilioFixture as unknown as HttpFixture<unknown>],
  ['vonage', vonageFixture as unknown as HttpFixture<unknown>],
  ['infobip', infobipFixture as unknown as HttpFixture<unknown>],
  ['http-sms', httpSmsFixture as unknown as HttpFixture<unknown>],
])('%s', (name, fixture) => {
  test('rejects a message with a file or without text, and makes no request', async () => {
    const { send, peer } = await start(fixture.provider, fixture.configFor, nth => fixture.taken(nth))
    const file = {
      type: 'image',
      mimetype: 'image/png',
      fileName: 'a.png',
      open: () => Promise.reject(),
    } as const
    expect(await send({ files: [file] })).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
    expect(await send({ text: '' })).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
    expect(peer.requests).toHaveLength(0)
  })

  test('HTTP 408, 421 and 425 end in retry', async () => {
    const statuses = [408, 421, 425]
    const acts = statuses.map(status => ({ status, body: '<html>' }))
    const { send } = await start(fixture.provider, fixture.configFor, nth => acts[nth - 1]!)
    for (const status of statuses) {
      expect(await send()).toMatchObject({ kind: 'retry', providerCode: `HTTP ${status}` })
    }
    expect(fixture.provider.explain!('HTTP 408')).toContain('whole')
  })

  test('without a receipt URL no receipts are requested, which is logged once', async () => {
    const io = { ...createIo(), receiptUrl: null }
    const { send, peer } = await start(fixture.provider, fixture.configFor, nth => fixture.taken(nth), io)
    for (let nth = 0; nth < 3; nth++) expect((await send()).kind).toBe('accepted')
    expect(peer.requests.map(request => request.body).join()).not.toMatch(/callback|webhooks|report/i)
    expect(io.logged).toHaveLength(1)
    expect(JSON.stringify(io.logged)).toContain(`${name}: no delivery receipts`)
  })

  test('the state of the link is reported only when it changes', async () => {
    const io = createIo()
    const acts = [fixture.taken(1), fixture.taken(2), { status: 401 }, { status: 401 }, fixture.taken(5)]
    const { send } = await start(fixture.provider, fixture.configFor, nth => acts[nth - 1]!, io)
    for (const _ of acts) await send()
    expect(io.reports.map(each => each.state)).toEqual(['connecting', 'up', 'down', 'up'])
  })

  test('explains codes, and returns null for unknown ones', () => {
    const explain = fixture.provider.explain!
    expect(explain('HTTP 401')).toBe('The provider refuses our credentials.')
    expect(explain('HTTP 503')).toContain('does not say whether')
    for (const code of ['', 'toString', 'constructor', 'dlr-toString', 'HTTP', 'HTTP 99'])
      expect(explain(code)).toBeNull()
  })
})

test('each provider explains its own codes', () => {
  expect(twilioFixture.provider.explain!('21610')).toContain('unsubscribed')
  expect(twilioFixture.provider.explain!('30003')).toContain('handset')
  for (const code of ['30022', '30023', '30024', '30032', '30034', '30036', '30410', '30450'])
    expect(twilioFixture.provider.explain!(code)).not.toBeNull()
  expect(vonageFixture.provider.explain!('9')).toContain('credit')
  expect(vonageFixture.provider.explain!('dlr-9')).toContain('list')
  expect(infobipFixture.provider.explain!('12')).toContain('credit')
  expect(infobipFixture.provider.explain!('87')).toContain('fraud')
  expect(infobipFixture.provider.explain!('EC_ABSENT_SUBSCRIBER')).toContain('handset')
})

describe('infobip: the look-up of an attempt without a response', () => {
  const ATTEMPT = 'msg_00000000000000000000000001.1'
  const log = (...results: unknown[]): PeerAct => ({ status: 200, body: JSON.stringify({ results }) })

  test.each<[string, PeerAct, object]>([
    [
      'returns accepted when the log contains the attempt',
      log({ messageId: ATTEMPT }),
      { kind: 'accepted', providerId: ATTEMPT },
    ],
    [
      'returns rejected when the log shows a rejection',
      log({ messageId: ATTEMPT, status: { groupId: 5, id: 52 } }),
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '52' },
    ],
    [
      'returns retry when the log shows a system error of Infobip',
      log({ messageId: ATTEMPT, status: { groupId: 5, id: 21 } }),
      { kind: 'retry', providerCode: '21' },
    ],
    ['returns unknown when the log is empty', log(), { kind: 'unknown' }],
    [
      'returns unknown when the log contains only another attempt',
      log({ messageId: 'other' }, null),
      { kind: 'unknown' },
    ],
    ['returns unknown when the response is HTTP 500', { status: 500 }, { kind: 'unknown' }],
    ['returns unknown when the connection is reset', 'reset', { kind: 'unknown' }],
  ])('%s', async (_, act, outcome) => {
    const { link, peer } = await start(infobipFixture.provider, infobipFixture.configFor, () => act)
    expect(await settled(link.find!(ATTEMPT, never()), 'find()')).toMatchObject(outcome)
    expect(peer.requests[0]).toMatchObject({
      method: 'GET',
      path: `/sms/3/logs?messageId=${ATTEMPT}&limit=1`,
      headers: { authorization: `App ${API_KEY}` },
    })
  })
})

test('a warning is logged when credentials are sent unencrypted to another host', async () => {
  const io = createIo()
  const link = await twilioFixture.provider.open(twilioFixture.configFor('http://gateway.example.com'), io)
  await link.close()
  expect(JSON.stringify(io.logged)).toContain('unencrypted over http')
})

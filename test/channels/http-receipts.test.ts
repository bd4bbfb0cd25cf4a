import { createHmac } from 'node:crypto'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { type HttpSmsConfig, httpSmsConfig } from '../../src/channels/http-sms/config.ts'
import { readReceipts } from '../../src/channels/http-sms/receipts.ts'
import { readCallback as readReports } from '../../src/channels/infobip/reports.ts'
import type { InboundResult, Receipt } from '../../src/channels/provider.ts'
import { readCallback } from '../../src/channels/twilio/receipts.ts'
import { readCallback as readReceipt, type SignatureMethod } from '../../src/channels/vonage/receipts.ts'
import type { InboundRequest } from '../../src/contract/inbound.ts'
import { startHttpPeer } from '../support/http-peer.ts'
import { receiptsOf } from '../support/inbound.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'
import { SMS } from './http-fixture.ts'
import { exampleGateway } from './http-sms.exchange.ts'
import { vonageFixture } from './vonage.exchange.ts'

const URL_BASE = 'https://posthorn.example.org/webhooks/x/cnn_1'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json' }

function call(more: Partial<Omit<InboundRequest, 'body'>> & { body?: string }): InboundRequest {
  return {
    method: 'POST',
    url: URL_BASE,
    query: '',
    headers: {},
    ...more,
    body: Buffer.from(more.body ?? ''),
  }
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const receipts = (answer: InboundResult) => (answer.kind === 'taken' ? answer.inbound : answer.kind)

describe('twilio', () => {
  const TOKEN = '12345'
  const STATUS = { MessageSid: 'SM1', MessageStatus: 'delivered', To: '+447700900123' }

  function sign(url: string, fields: Record<string, string>): string {
    const text =
      url +
      Object.keys(fields)
        .sort()
        .map(name => name + fields[name])
        .join('')
    return createHmac('sha1', TOKEN).update(text).digest('base64')
  }

  const signed = (fields: Record<string, string>, url = URL_BASE) =>
    call({ url, headers: { ...FORM, 'x-twilio-signature': sign(url, fields) }, body: form(fields) })

  test('verifies the signature of the documentation’s example, and refuses it with another token', () => {
    const example = call({
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      query: 'foo=1&bar=2',
      headers: { ...FORM, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
      body: form({
        CallSid: 'CA1234567890ABCDE',
        Caller: '+14158675309',
        Digits: '1234',
        From: '+14158675309',
        To: '+18005551212',
      }),
    })
    // The example is a voice call without a message id, which is found only after the signature is verified.
    expect(readCallback(example, '12345').kind).toBe('malformed')
    expect(readCallback(example, '12346').kind).toBe('unauthorized')
  })

  test.each([
    ['queued', []],
    ['sending', []],
    ['sent', ['sent']],
    ['delivered', ['delivered']],
    ['read', ['read']],
    ['undelivered', ['undelivered']],
    ['failed', ['undelivered']],
    ['received', []],
    ['toString', []],
  ])('a callback with the status %s', (reported, statuses) => {
    const answer = readCallback(signed({ ...STATUS, MessageStatus: reported }), TOKEN)
    expect(answer.kind === 'taken' && receiptsOf(answer.inbound).map(each => each.status)).toEqual(statuses)
  })

  test('the error code is kept as the provider code', () => {
    const failed = readCallback(
      signed({ ...STATUS, MessageStatus: 'undelivered', ErrorCode: '30003' }),
      TOKEN,
    )
    expect(receipts(failed)).toMatchObject([
      { providerId: 'SM1', providerCode: '30003', status: 'undelivered' },
    ])
  })

  test('the error 21610 is reported as an opt-out', () => {
    const failed = readCallback(signed({ ...STATUS, MessageStatus: 'failed', ErrorCode: '21610' }), TOKEN)
    expect(receipts(failed)).toMatchObject([
      { status: 'undelivered', reject: 'RECIPIENT_REJECTED', optedOut: true, providerCode: '21610' },
    ])
  })

  test.each([
    ['21211', 'RECIPIENT_REJECTED'],
    ['21408', 'RECIPIENT_REJECTED'],
    ['21606', 'SENDER_REJECTED'],
    ['21617', 'MESSAGE_REJECTED'],
    ['21703', 'PROVIDER_UNAVAILABLE'],
    ['30007', undefined],
    ['toString', undefined],
  ])('the error %s of a message that a Messaging Service took at first is a refusal: %s', (code, reject) => {
    const told = (MessageStatus: string) => {
      const [receipt] = receipts(
        readCallback(signed({ ...STATUS, MessageStatus, ErrorCode: code }), TOKEN),
      ) as Receipt[]
      return [receipt!.status, receipt!.reject, receipt!.providerCode]
    }
    expect(told('failed')).toEqual(['undelivered', reject, code])
    expect(told('undelivered')).toEqual(['undelivered', reject, code])
    expect(told('sent')).toEqual(['sent', undefined, code])
  })

  test('the attempt id is read from the callback URL, which the signature covers', () => {
    const url = `${URL_BASE}?attempt=msg_1.1`
    const asked = { ...signed(STATUS, url), query: 'attempt=msg_1.1' }
    expect(receipts(readCallback(asked, TOKEN))).toMatchObject([{ providerId: 'SM1', attemptId: 'msg_1.1' }])
    const moved = { ...asked, url: `${URL_BASE}?attempt=msg_2.1`, query: 'attempt=msg_2.1' }
    expect(readCallback(moved, TOKEN).kind).toBe('unauthorized')
  })

  test('the standard port in the URL is equivalent to no port', () => {
    const withPort = URL_BASE.replace('.org', '.org:443')
    const headers = { ...FORM, 'x-twilio-signature': sign(withPort, STATUS) }
    expect(readCallback(call({ headers, body: form(STATUS) }), TOKEN).kind).toBe('taken')
    const without = { ...FORM, 'x-twilio-signature': sign(URL_BASE, STATUS) }
    expect(readCallback(call({ url: withPort, headers: without, body: form(STATUS) }), TOKEN).kind).toBe(
      'taken',
    )
  })

  test('a form body with another content type is unauthorized', () => {
    const headers = { ...JSON_TYPE, 'x-twilio-signature': sign(URL_BASE, {}) }
    expect(readCallback(call({ headers, body: form(STATUS) }), TOKEN).kind).toBe('unauthorized')
  })

  test('the signature of a GET request covers the query', () => {
    const url = `${URL_BASE}?${form(STATUS)}`
    const headers = { 'x-twilio-signature': sign(url, {}) }
    const asked = call({ method: 'GET', url, query: form(STATUS), headers })
    expect(receipts(readCallback(asked, TOKEN))).toHaveLength(1)
    expect(readCallback({ ...asked, url: url.replace('delivered', 'failed') }, TOKEN).kind).toBe(
      'unauthorized',
    )
  })

  test.each<[string, (request: InboundRequest) => InboundRequest]>([
    [
      'a changed field',
      request => ({ ...request, body: Buffer.from(form({ ...STATUS, MessageStatus: 'failed' })) }),
    ],
    ['an added field', request => ({ ...request, body: Buffer.from(form({ ...STATUS, X: '1' })) })],
    ['another URL', request => ({ ...request, url: `${URL_BASE}x` })],
    ['no URL, as no public URL is configured', request => ({ ...request, url: null })],
    ['no signature', request => ({ ...request, headers: FORM })],
    ['an empty signature', request => ({ ...request, headers: { ...FORM, 'x-twilio-signature': '' } })],
    [
      'a signed form with the content type of JSON',
      request => ({ ...request, headers: { ...request.headers, ...JSON_TYPE } }),
    ],
  ])('unauthorized: %s', (_, change) => {
    expect(readCallback(change(signed(STATUS)), TOKEN).kind).toBe('unauthorized')
  })
})

describe('vonage', () => {
  const DLR = {
    msisdn: '447700900123',
    to: 'Acme',
    messageId: '0A1',
    status: 'delivered',
    'err-code': '0',
    'message-timestamp': '2026-01-02 03:04:05',
  }
  const byToken = { token: 'receipt-token' }

  test.each<[SignatureMethod, string]>([
    ['md5hash', '6af838ef94998832dbfc29020b564830'],
    ['md5', 'c15c21ced558c93a226c305f58f902f2'],
    ['sha1', '3e19a4e6880fdc2c1426bfd0587c98b9532f0210'],
    ['sha256', 'A321E824B9B816BE7C3F28859A31749A098713D39F613C80D455BBAFFAE1CD24'],
    [
      'sha512',
      '812a18f76680fa0fe1b8bd9ee1625466ceb1bd96242e4d050d2cfd9a7b40166c63ed26ec9702168781b6edcf1633db8ff95af9341701004eec3fcf9550572ee8',
    ],
  ])(
    'verifies the %s signature of the test in Vonage’s own library, in upper or lower case',
    (method, sig) => {
      const asked = call({ method: 'GET', query: form({ a: '1', b: '2', timestamp: '1461605396', sig }) })
      // The example has no message id, which is found only after the signature is verified.
      expect(readReceipt(asked, { secret: 'secret', method }).kind).toBe('malformed')
      expect(readReceipt(asked, { secret: 'Secret', method }).kind).toBe('unauthorized')
    },
  )

  test('the attempt id is read from client-ref', () => {
    const fields = { ...DLR, 'client-ref': 'msg_1.1' }
    const asked = call({ method: 'GET', query: form({ ...fields, t: 'receipt-token' }) })
    expect(receipts(readReceipt(asked, byToken))).toMatchObject([{ providerId: '0A1', attemptId: 'msg_1.1' }])
  })

  test('verifies a signature over values that contain & and =', () => {
    const proof = { secret: 's', method: 'sha256' } as const
    const fields: Record<string, string> = { ...DLR, 'client-ref': 'a&b=c' }
    const names = Object.keys(fields).sort()
    const text = names.map(name => `&${name}=${fields[name]!.replace(/[&=]/g, '_')}`).join('')
    const sig = createHmac('sha256', 's').update(text).digest('hex')
    const asked = call({ headers: FORM, body: form({ ...fields, sig }) })
    expect(receipts(readReceipt(asked, proof))).toHaveLength(1)
    const changed = call({ headers: FORM, body: form({ ...fields, status: 'failed', sig }) })
    expect(readReceipt(changed, proof).kind).toBe('unauthorized')
    const unsigned = call({ headers: FORM, body: form(fields), query: 't=receipt-token' })
    expect(readReceipt(unsigned, proof).kind).toBe('unauthorized')
  })

  test.each([
    ['without', DLR],
    ['with', { ...DLR, t: 'receipt-token' }],
  ])('verifies a GET request that was signed %s the token of the callback URL', (_, signed) => {
    const proof = { secret: 's', method: 'sha256' } as const
    const fields: Record<string, string> = signed
    const names = Object.keys(fields).sort()
    const sig = createHmac('sha256', 's')
      .update(names.map(name => `&${name}=${fields[name]}`).join(''))
      .digest('hex')
    const asked = (more: Record<string, string>) =>
      call({ method: 'GET', query: `t=receipt-token&${form({ ...DLR, sig, ...more })}` })
    expect(receipts(readReceipt(asked({}), proof))).toMatchObject([{ providerId: '0A1' }])
    expect(readReceipt(asked({ status: 'failed' }), proof).kind).toBe('unauthorized')
    expect(readReceipt(asked({ sig: '' }), proof).kind).toBe('unauthorized')
  })

  test.each<[string, InboundRequest]>([
    ['by GET', call({ method: 'GET', query: form({ ...DLR, t: 'receipt-token' }) })],
    ['as a form', call({ query: 't=receipt-token', headers: FORM, body: form(DLR) })],
    ['as JSON', call({ query: 't=receipt-token', headers: JSON_TYPE, body: JSON.stringify(DLR) })],
  ])('reads a receipt %s with the token, and refuses it with another', (_, asked) => {
    expect(receipts(readReceipt(asked, byToken))).toEqual([
      {
        kind: 'receipt',
        providerId: '0A1',
        ofPart: true,
        status: 'delivered',
        atMs: Date.UTC(2026, 0, 2, 3, 4, 5),
        providerCode: null,
        detail: null,
      },
    ])
    expect(readReceipt({ ...asked, query: asked.query.replace('t=receipt', 't=recei') }, byToken).kind).toBe(
      'unauthorized',
    )
  })

  test.each([
    ['accepted', 'sent'],
    ['buffered', 'sent'],
    ['expired', 'undelivered'],
    ['failed', 'undelivered'],
    ['rejected', 'undelivered'],
  ])('the status %s is reported as %s', (reported, status) => {
    const asked = call({
      method: 'GET',
      query: form({ ...DLR, status: reported, 'err-code': '6', t: 'receipt-token' }),
    })
    expect(receipts(readReceipt(asked, byToken))).toMatchObject([{ status, providerCode: 'dlr-6' }])
  })

  test('the status unknown yields no receipt, and an unreadable call is malformed', () => {
    const unknown = call({ method: 'GET', query: form({ ...DLR, status: 'unknown', t: 'receipt-token' }) })
    expect(receipts(readReceipt(unknown, byToken))).toEqual([])
    const list = call({ query: 't=receipt-token', headers: JSON_TYPE, body: '[1]' })
    expect(readReceipt(list, byToken).kind).toBe('malformed')
    expect(readReceipt(call({ method: 'GET', query: 't=receipt-token' }), byToken).kind).toBe('malformed')
  })

  test('a callback URL that is too long is not sent, and this is logged', async () => {
    const peer = await startHttpPeer(() => vonageFixture.taken(1))
    const io = { ...createIo(), receiptUrl: `https://${'a'.repeat(60)}.example.org/webhooks/x/cnn_1` }
    const link = await vonageFixture.provider.open(vonageFixture.configFor(peer.url), io)
    await settled(link.send(outgoing(1, SMS), never()), 'send()')
    expect(new URLSearchParams(peer.requests[0]!.body).has('callback')).toBe(false)
    expect(JSON.stringify(io.logged)).toContain('longer than 100 characters')
    await link.close()
    await peer.close()
  })
})

describe('infobip', () => {
  const report = (messageId: string, groupId: number, id: number, more = {}) => ({
    messageId,
    to: '447700900123',
    status: { groupId, groupName: 'X', id, name: 'X' },
    error: { groupId: 0, id: 0, name: 'NO_ERROR', permanent: false },
    doneAt: '2026-01-02T03:04:05.678+0100',
    ...more,
  })
  const reports = (...results: unknown[]) =>
    call({ query: 't=receipt-token', headers: JSON_TYPE, body: JSON.stringify({ results }) })

  test('reads several reports of one call and skips the unreadable ones', () => {
    const asked = reports(
      report('m1', 3, 5),
      null,
      { messageId: 'm2' },
      report('m3', 2, 9, { error: { name: 'EC_ABSENT_SUBSCRIBER' } }),
    )
    expect(receipts(readReports(asked, 'receipt-token'))).toEqual([
      {
        kind: 'receipt',
        providerId: 'm1',
        attemptId: 'm1',
        status: 'delivered',
        atMs: Date.UTC(2026, 0, 2, 2, 4, 5, 678),
        providerCode: null,
        detail: null,
      },
      expect.objectContaining({
        providerId: 'm3',
        status: 'undelivered',
        providerCode: 'EC_ABSENT_SUBSCRIBER',
      }),
    ])
  })

  test.each([
    ['pending', 1, 7, ['sent']],
    ['delivered to the operator, but not to the handset', 3, 2, ['sent']],
    ['expired', 4, 15, ['undelivered']],
    ['expired without a delivery report of the operator', 4, 29, []],
    ['rejected', 5, 13, ['undelivered']],
    ['an unknown status group', 9, 1, []],
  ])('a report with the status: %s', (_, groupId, id, statuses) => {
    const answer = readReports(reports(report('m', groupId, id)), 'receipt-token')
    expect(answer.kind === 'taken' && receiptsOf(answer.inbound).map(each => each.status)).toEqual(statuses)
  })

  test.each([
    ['an unknown number', 52, 'RECIPIENT_REJECTED'],
    ['a sender that is not registered', 11, 'SENDER_REJECTED'],
    ['no credit', 12, 'PROVIDER_UNAVAILABLE'],
    ['a reason that is not known here', 100, 'MESSAGE_REJECTED'],
  ])('a report that Infobip itself rejected the message is a refusal: %s', (_, id, reject) => {
    const answer = readReports(reports(report('m', 5, id)), 'receipt-token')
    expect(receipts(answer)).toMatchObject([{ status: 'undelivered', reject, providerCode: String(id) }])
    const byOperator = readReports(reports(report('m', 2, 4)), 'receipt-token')
    expect(receipts(byOperator)).toMatchObject([{ status: 'undelivered', providerCode: null }])
    expect((receipts(byOperator) as Receipt[])[0]).not.toHaveProperty('reject')
  })

  test('a report that a repeat of the request was refused says nothing about the message', () => {
    const both = reports(report('m', 5, 23), report('m', 3, 5))
    expect(receipts(readReports(both, 'receipt-token'))).toMatchObject([{ status: 'delivered' }])
  })

  test('a call without the token is unauthorized, and one without readable reports is malformed', () => {
    expect(readReports({ ...reports(), query: '' }, 'receipt-token').kind).toBe('unauthorized')
    expect(readReports({ ...reports(), query: 't=receipt-tokem' }, 'receipt-token').kind).toBe('unauthorized')
    expect(readReports({ ...reports(), query: 't=' }, '').kind).toBe('unauthorized')
    expect(readReports({ ...reports(), body: Buffer.from('{') }, 'receipt-token').kind).toBe('malformed')
    const many = Array.from({ length: 1_001 }, () => null)
    expect(readReports(reports(...many), 'receipt-token').kind).toBe('malformed')
  })
})

describe('http-sms', () => {
  type Form = NonNullable<HttpSmsConfig['receipts']>
  const { receipts: hmac, secrets = {} } = exampleGateway('https://gateway.example.com')
  const read = (asked: InboundRequest, form: Form) => readReceipts(asked, form, secrets, 'receipt-token')

  test('verifies an HMAC of the raw body', () => {
    const body =
      '{ "reports": [{"id": 17, "state":"FAILED", "reason":{"code":"x9"}, "time":"2026-01-02T03:04:05Z"},\n{"id":"b","state":"WAITING"}] }'
    const signature = `sha256=${createHmac('sha256', secrets['hook']!).update(body).digest('hex')}`
    const asked = call({ headers: { ...JSON_TYPE, 'x-signature': signature }, body })
    expect(receipts(read(asked, hmac!))).toEqual([
      {
        kind: 'receipt',
        providerId: '17',
        status: 'undelivered',
        atMs: Date.UTC(2026, 0, 2, 3, 4, 5),
        providerCode: 'x9',
        detail: null,
      },
    ])
    expect(read({ ...asked, body: Buffer.from(body.replace('{ ', '{')) }, hmac!).kind).toBe('unauthorized')
    expect(read({ ...asked, headers: JSON_TYPE }, hmac!).kind).toBe('unauthorized')
  })

  test('a code that quotes a secret, as it is or encoded, is withheld', () => {
    const secret = 'k3y/of+the gateway'
    const form: Form = {
      ...hmac!,
      format: 'query',
      id: 'id',
      status: 'stat',
      code: 'why',
      proof: { by: 'token' },
    }
    const codeOf = (why: string) => {
      const query = new URLSearchParams({ t: 'receipt-token', id: 'a', stat: 'FAILED', why }).toString()
      const answer = readReceipts(call({ method: 'GET', query }), form, { key: secret }, 'receipt-token')
      return receipts(answer)
    }
    expect(codeOf(`failed: /send?key=${secret}`)).toMatchObject([{ providerCode: 'withheld' }])
    expect(codeOf(`failed: /send?key=${encodeURIComponent(secret)}`)).toMatchObject([
      { providerCode: 'withheld' },
    ])
    expect(codeOf('failed: /send')).toMatchObject([{ providerCode: 'failed: /send' }])
  })

  test('a body is one receipt or a list of them where no path to a list is configured', () => {
    const form: Form = {
      format: 'json',
      id: 'id',
      status: 'state',
      statuses: hmac!.statuses,
      proof: { by: 'token' },
    }
    const asked = (body: string) => read(call({ headers: JSON_TYPE, query: 't=receipt-token', body }), form)
    const one = '{"id": "a", "state": "DELIVERED"}'
    expect(receipts(asked(one))).toMatchObject([{ providerId: 'a', status: 'delivered' }])
    expect(receipts(asked(`[${one}, null, {"id": "b", "state": "FAILED"}]`))).toMatchObject([
      { providerId: 'a', status: 'delivered' },
      { providerId: 'b', status: 'undelivered' },
    ])
    expect(receipts(asked('[]'))).toEqual([])
    expect(asked('7').kind).toBe('malformed')
  })

  test('the configuration rejects an HMAC as the proof of the format query', () => {
    const config = exampleGateway('https://gateway.example.com')
    const faults = (changed: object) =>
      [...Value.Errors(httpSmsConfig, { ...config, ...changed })].map(e => e.message)
    const fields = { format: 'query', from: 'from', to: 'to', text: 'text' }
    expect(faults({ receipts: { ...hmac!, format: 'form' } })).toEqual([])
    expect(faults({ inbound: { ...fields, proof: { by: 'token' } } })).toEqual([])
    const words = 'proof: an HMAC covers only the body, which does not hold the fields of the format query'
    expect(faults({ receipts: { ...hmac!, format: 'query' } })).toEqual([`receipts.${words}`])
    expect(faults({ inbound: { ...fields, proof: hmac!.proof } })).toEqual([`inbound.${words}`])
  })

  test('numeric ids beyond the precision of a double stay exact', () => {
    const body =
      '{"reports": [{"id": 9223372036854775801, "state": "DELIVERED"}, {"id": -9223372036854775802, "state": "FAILED", "reason": {"code": 0.12345678901234567}}, {"id": "9223372036854775803 \\"9223372036854775804", "state": "FAILED"}, {"id": 9007199254740991, "state": "FAILED"}]}'
    const byToken: Form = { ...hmac!, proof: { by: 'token' } }
    const asked = call({ headers: JSON_TYPE, query: 't=receipt-token', body })
    expect(receipts(read(asked, byToken))).toMatchObject([
      { providerId: '9223372036854775801' },
      { providerId: '-9223372036854775802', providerCode: '0.12345678901234566' },
      { providerId: '9223372036854775803 "9223372036854775804' },
      { providerId: '9007199254740991' },
    ])
    const broken = call({ ...asked, body: '{"reports": [{9223372036854775801: 1}]}' })
    expect(read(broken, byToken).kind).toBe('malformed')
  })

  const line: Form = {
    format: 'query',
    id: 'id',
    status: 'stat',
    statuses: { '1': 'delivered', '2': 'undelivered' },
    at: 'ts',
    atFormat: 'seconds',
    proof: { by: 'token' },
    reply: { status: 200, contentType: 'text/plain', body: 'ACK' },
  }

  test('the attempt id is read from the configured field', () => {
    const asked = call({ method: 'GET', query: 't=receipt-token&id=a&stat=1&ref=msg_1.1' })
    expect(receipts(read(asked, { ...line, attempt: 'ref' }))).toMatchObject([{ attemptId: 'msg_1.1' }])
    expect(receipts(read(asked, { ...line, attempt: 'other' }))).not.toMatchObject([
      { attemptId: expect.anything() },
    ])
  })

  test('verifies the token of a query, and returns the configured reply', () => {
    const asked = call({ method: 'GET', query: 't=receipt-token&id=a&stat=1&ts=1767323045' })
    expect(read(asked, line)).toMatchObject({
      kind: 'taken',
      inbound: [{ providerId: 'a', status: 'delivered', atMs: 1_767_323_045_000 }],
      reply: { body: 'ACK' },
    })
    expect(read({ ...asked, query: 'id=a&stat=1' }, line).kind).toBe('unauthorized')
    const strange = { ...asked, query: 't=receipt-token&id=a&stat=constructor' }
    expect(receipts(read(strange, line))).toEqual([])
  })

  test('verifies the password of a form by Basic authentication', () => {
    const basic: Form = { ...line, format: 'form', proof: { by: 'basic', user: 'gw', secret: 'hook' } }
    const authorization = `Basic ${Buffer.from(`gw:${secrets['hook']}`).toString('base64')}`
    const asked = call({ headers: { ...FORM, authorization }, body: form({ id: 'a', stat: '2' }) })
    expect(receipts(read(asked, basic))).toMatchObject([{ status: 'undelivered' }])
    const lower = { ...FORM, authorization: authorization.replace('Basic', 'basic') }
    expect(read({ ...asked, headers: lower }, basic).kind).toBe('taken')
    const other = { ...FORM, authorization: authorization.replace('Basic', 'Bearer') }
    expect(read({ ...asked, headers: other }, basic).kind).toBe('unauthorized')
    expect(read({ ...asked, headers: FORM }, basic).kind).toBe('unauthorized')
  })
})

import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { MessageForm } from '../../src/channels/http-sms/config.ts'
import { isInboundCall, readMessages } from '../../src/channels/http-sms/inbound.ts'
import { httpSmsProvider } from '../../src/channels/http-sms.ts'
import { readCallback as readReports } from '../../src/channels/infobip/reports.ts'
import { readCallback } from '../../src/channels/twilio/receipts.ts'
import { readCallback as readReceipt } from '../../src/channels/vonage/receipts.ts'
import type { InboundRequest } from '../../src/contract/inbound.ts'
import { createIo } from './conformance.ts'
import { exampleGateway } from './http-sms.exchange.ts'

const URL_BASE = 'https://posthorn.example.org/webhooks/x/cnn_1'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json' }
const MESSAGE = { kind: 'message', channel: 'int_sms', button: null } as const

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

describe('twilio', () => {
  const FIELDS = {
    MessageSid: 'SM1',
    SmsStatus: 'received',
    From: '+447700900123',
    To: '+15005550006',
    Body: 'Hello & goodbye',
    NumMedia: '0',
  }

  function signed(fields: Record<string, string>, token = '12345'): InboundRequest {
    const names = Object.keys(fields).sort()
    const text = URL_BASE + names.map(name => name + fields[name]).join('')
    const signature = createHmac('sha1', token).update(text).digest('base64')
    return call({ headers: { ...FORM, 'x-twilio-signature': signature }, body: form(fields) })
  }

  test('a message is accepted with an empty reply, so that its sender gets no message back', () => {
    expect(readCallback(signed(FIELDS), '12345')).toEqual({
      kind: 'taken',
      inbound: [
        { ...MESSAGE, eventId: 'SM1', from: FIELDS.From, to: FIELDS.To, text: FIELDS.Body, atMs: null },
      ],
      reply: { status: 200, contentType: 'text/xml', body: '<Response/>' },
    })
  })

  test('a message is read without SmsStatus, which Twilio does not guarantee', () => {
    const { SmsStatus: _, ...fields } = FIELDS
    expect(readCallback(signed(fields), '12345')).toMatchObject({
      inbound: [{ kind: 'message', eventId: 'SM1', text: FIELDS.Body }],
    })
    const told = signed({ ...fields, MessageStatus: 'delivered' })
    expect(readCallback(told, '12345')).toMatchObject({ inbound: [{ kind: 'receipt', providerId: 'SM1' }] })
  })

  test('the files of an MMS are described', () => {
    const mms = {
      ...FIELDS,
      NumMedia: '2',
      MediaUrl0: 'https://api.twilio.com/2010-04-01/x/Media/ME1',
      MediaContentType0: 'image/jpeg',
      MediaContentType1: 'text/vcard',
    }
    const none = { fileName: null, sizeBytes: null, reference: null }
    expect(readCallback(signed(mms), '12345')).toMatchObject({
      inbound: [
        {
          media: [
            { type: 'image', mimetype: 'image/jpeg', ...none },
            { type: 'document', mimetype: 'text/vcard', ...none },
          ],
        },
      ],
    })
    for (const NumMedia of ['x', '-1', '0']) {
      const answer = readCallback(signed({ ...FIELDS, NumMedia }), '12345')
      expect(answer.kind === 'taken' && answer.inbound[0]).not.toHaveProperty('media')
    }
  })

  test('a keyword of the Messaging Service itself is the decision that Twilio takes it for', () => {
    const decisionOf = (OptOutType: string) => {
      const answer = readCallback(signed({ ...FIELDS, Body: 'Genug', OptOutType }), '12345')
      return answer.kind === 'taken' && answer.inbound[0]?.kind === 'message' && answer.inbound[0].decision
    }
    expect(['STOP', 'START', 'HELP', 'toString'].map(decisionOf)).toEqual([
      'stop',
      'start',
      undefined,
      undefined,
    ])
  })

  test('an empty message is read, and one of another channel is ignored', () => {
    expect(readCallback(signed({ ...FIELDS, Body: '' }), '12345')).toMatchObject({ inbound: [{ text: '' }] })
    const other = { ...FIELDS, From: 'whatsapp:+447700900123' }
    expect(readCallback(signed(other), '12345')).toMatchObject({ kind: 'taken', inbound: [] })
  })

  test('a message without a valid signature is unauthorized', () => {
    expect(readCallback(signed(FIELDS, 'other'), '12345').kind).toBe('unauthorized')
    expect(readCallback(call({ headers: FORM, body: form(FIELDS) }), '12345').kind).toBe('unauthorized')
  })
})

describe('vonage', () => {
  const FIELDS = {
    msisdn: '447700900123',
    to: '447700900000',
    messageId: '0A0000000123ABCD1',
    text: 'Hello & goodbye = again',
    type: 'text',
    keyword: 'HELLO',
    'message-timestamp': '2026-01-31 12:00:00',
  }
  const taken = {
    ...MESSAGE,
    eventId: FIELDS.messageId,
    from: '+447700900123',
    to: '+447700900000',
    text: FIELDS.text,
    atMs: Date.UTC(2026, 0, 31, 12),
  }

  test('a message by GET, as a form or as JSON is read when the call has the token', () => {
    const proof = { token: 'tok' }
    const ways = [
      call({ method: 'GET', query: `t=tok&${form(FIELDS)}` }),
      call({ query: 't=tok', headers: FORM, body: form(FIELDS) }),
      call({ query: 't=tok', headers: JSON_TYPE, body: JSON.stringify(FIELDS) }),
    ]
    for (const way of ways) expect(readReceipt(way, proof)).toEqual({ kind: 'taken', inbound: [taken] })
    expect(readReceipt(call({ method: 'GET', query: `t=no&${form(FIELDS)}` }), proof).kind).toBe(
      'unauthorized',
    )
  })

  test('a message is read with a valid signature, and unauthorized when it was changed', () => {
    const text = Object.keys(FIELDS)
      .sort()
      .map(name => `&${name}=${FIELDS[name as keyof typeof FIELDS].replace(/[&=]/g, '_')}`)
      .join('')
    const sig = createHash('md5').update(`${text}secret`).digest('hex')
    const proof = { secret: 'secret', method: 'md5hash' } as const
    const signed = call({ headers: JSON_TYPE, body: JSON.stringify({ ...FIELDS, sig }) })
    expect(readReceipt(signed, proof)).toEqual({ kind: 'taken', inbound: [taken] })
    const changed = call({ headers: JSON_TYPE, body: JSON.stringify({ ...FIELDS, text: 'STOP', sig }) })
    expect(readReceipt(changed, proof).kind).toBe('unauthorized')
  })

  test.each([
    [
      { concat: 'true', 'concat-ref': '7', 'concat-total': '2', 'concat-part': '1' },
      { reference: 7, total: 2, number: 1 },
    ],
    [{ concat: 'true', 'concat-ref': '7', 'concat-total': 'x', 'concat-part': '1' }, undefined],
    [{ concat: 'false' }, undefined],
  ])('a message with the fields %j has the part that they describe', (fields, part) => {
    const answer = readReceipt(call({ method: 'GET', query: `t=tok&${form({ ...FIELDS, ...fields })}` }), {
      token: 'tok',
    })
    expect(answer).toMatchObject({ kind: 'taken', inbound: [{ text: FIELDS.text }] })
    const [message] = answer.kind === 'taken' ? answer.inbound : []
    expect(message?.kind === 'message' && message.part).toEqual(part)
  })

  test('a binary message is acknowledged and dropped, so that Vonage does not repeat it for a day', () => {
    const { text: _, keyword: __, ...rest } = FIELDS
    const binary = { ...rest, type: 'binary', data: '00DEADBEEF', udh: '060504158a158a' }
    const answer = readReceipt(call({ method: 'GET', query: `t=tok&${form(binary)}` }), { token: 'tok' })
    expect(answer).toEqual({ kind: 'taken', inbound: [] })
  })

  test('a message without a text is malformed', () => {
    const { text: _, ...binary } = FIELDS
    expect(readReceipt(call({ method: 'GET', query: `t=tok&${form(binary)}` }), { token: 'tok' }).kind).toBe(
      'malformed',
    )
  })
})

describe('infobip', () => {
  const RESULT = {
    messageId: '817790313235066447',
    from: '385916242493',
    to: '385921004026',
    text: 'QUIZ Correct answer is Paris',
    cleanText: 'Correct answer is Paris',
    keyword: 'QUIZ',
    receivedAt: '2026-01-31T09:28:39.220+0000',
    smsCount: 1,
  }
  const body = (...results: unknown[]) =>
    JSON.stringify({ results, messageCount: results.length, pendingMessageCount: 0 })

  test('messages and reports of one call are read, and other entries are skipped', () => {
    const report = { messageId: 'm-1', status: { groupId: 3, id: 5 } }
    const answer = readReports(
      call({ query: 't=tok', body: body(RESULT, report, { ...RESULT, text: 7 }, null) }),
      'tok',
    )
    expect(answer).toMatchObject({
      kind: 'taken',
      inbound: [
        {
          ...MESSAGE,
          eventId: RESULT.messageId,
          from: '+385916242493',
          to: '+385921004026',
          text: RESULT.text,
          atMs: Date.parse('2026-01-31T09:28:39.220Z'),
        },
        { kind: 'receipt', providerId: 'm-1', status: 'delivered' },
      ],
    })
    expect(readReports(call({ query: 't=no', body: body(RESULT) }), 'tok').kind).toBe('unauthorized')
  })
})

describe('a gateway of the provider http-sms', () => {
  const FORM_OF: MessageForm = {
    format: 'query',
    id: 'i',
    from: 'p',
    to: 'P',
    text: 'a',
    at: 't0',
    atFormat: 'seconds',
    proof: { by: 'token' },
    reply: { status: 200, contentType: 'text/plain', body: 'ACK' },
  }
  const QUERY = 'in=1&t=tok&i=42&p=%2B447700900123&P=70123&a=Hello&t0=1767225600'
  const read = (request: InboundRequest, how: MessageForm = FORM_OF) =>
    readMessages(request, how, {}, 'tok', () => 'spare')

  test('a number whose plus the gateway did not encode is read all the same', () => {
    const inbound = [{ from: '+447700900123', to: '+15005550006' }]
    const query = QUERY.replace('%2B', '+').replace('P=70123', 'P=+15005550006')
    expect(read(call({ method: 'GET', query }))).toMatchObject({ inbound })
    expect(read(call({ method: 'GET', query: query.replace('p=+447700900123', 'p=+') }))).toMatchObject({
      inbound: [],
    })
  })

  test('a message in a query is read, and the configured reply is returned', () => {
    const request = call({ method: 'GET', query: QUERY })
    expect(isInboundCall(request)).toBe(true)
    expect(read(request)).toEqual({
      kind: 'taken',
      inbound: [
        {
          ...MESSAGE,
          eventId: '42',
          from: '+447700900123',
          to: '70123',
          text: 'Hello',
          atMs: 1_767_225_600_000,
        },
      ],
      reply: FORM_OF.reply,
    })
  })

  describe('a text is read', () => {
    const textOf = (request: InboundRequest, how?: MessageForm) => {
      const answer = read(request, how)
      return answer.kind === 'taken' && answer.inbound[0]?.kind === 'message' && answer.inbound[0].text
    }
    const posted = (a: string, charset = '') =>
      textOf(
        {
          ...call({ query: 'in=1&t=tok', headers: { 'content-type': `${FORM['content-type']}${charset}` } }),
          body: Buffer.from(`p=447700900123&P=70123&a=${a}`, 'latin1'),
        },
        { ...FORM_OF, format: 'form' },
      )

    test.each([
      ['UTF-8', 'Caf%C3%A9+%26+%E2%82%AC+a%3Db=c', 'Café & € a=b=c'],
      ['Latin-1', 'Caf%E9+no%EBl', 'Café noël'],
      ['Windows-1252', '5%80', '5€'],
      ['octets that are not encoded', 'Caf\xe9', 'Café'],
      ['a percent sign that encodes nothing', '100%+%zz', '100% %zz'],
    ])('in a query: %s', (_, a, text) => {
      expect(textOf(call({ method: 'GET', query: QUERY.replace('a=Hello', `a=${a}`) }))).toBe(text)
      expect(posted(a)).toBe(text)
    })

    test('in the charset that a form names, unless it is UTF-8 or the charset is not known', () => {
      expect(posted('%CF%F0%E8%E2%E5%F2', '; charset=windows-1251')).toBe('Привет')
      expect(posted('Caf%C3%A9', '; charset=ISO-8859-1')).toBe('Café')
      expect(posted('Caf%E9', '; charset="x-unknown"')).toBe('Café')
    })

    test('in JSON that is not UTF-8, against the rules of JSON', () => {
      const body = JSON.stringify({ p: '447700900123', P: '70123', a: 'Café' })
      const request = {
        ...call({ query: 'in=1&t=tok', headers: JSON_TYPE }),
        body: Buffer.from(body, 'latin1'),
      }
      expect(textOf(request, { ...FORM_OF, format: 'json' })).toBe('Café')
    })
  })

  test('messages in JSON are read with a generated id, and invalid entries are skipped', () => {
    const how: MessageForm = {
      format: 'json',
      items: 'mo',
      from: 'src',
      to: 'dst',
      text: 'body.text',
      proof: { by: 'token' },
    }
    const mo = [{ src: '447700900123', dst: 70123, body: { text: 'Hi' } }, { src: 'x' }, 7]
    const answer = read(call({ query: 'in=1&t=tok', body: JSON.stringify({ mo }) }), how)
    expect(answer).toMatchObject({
      inbound: [{ eventId: 'spare', from: '+447700900123', to: '70123', text: 'Hi' }],
    })
  })

  test('a message without the token is unauthorized', () => {
    expect(read(call({ method: 'GET', query: QUERY.replace('t=tok', 't=no') })).kind).toBe('unauthorized')
  })

  test('receipts and messages are received at one URL', async () => {
    const gateway = exampleGateway('http://127.0.0.1:9')
    const both = await httpSmsProvider.open({ ...gateway, inbound: FORM_OF }, createIo())
    const query = QUERY.replace('t=tok', `t=${createIo().receiptToken}`)
    expect(await both.receive!(call({ method: 'GET', query }))).toMatchObject({
      inbound: [{ kind: 'message' }],
    })
    expect(await both.receive!(call({ method: 'GET', query: query.replace('in=1', 'in=0') }))).toEqual({
      kind: 'unauthorized',
    })
    const { receipts: _, ...bare } = gateway
    const messages = await httpSmsProvider.open({ ...bare, inbound: FORM_OF }, createIo())
    expect(await messages.receive!(call({ method: 'GET', query: query.replace('in=1&', '') }))).toMatchObject(
      {
        inbound: [{ kind: 'message' }],
      },
    )
    await Promise.all([both.close(), messages.close()])
  })
})

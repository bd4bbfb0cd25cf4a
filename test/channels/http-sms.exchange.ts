import type { HttpSmsConfig } from '../../src/channels/http-sms/config.ts'
import { httpSmsProvider } from '../../src/channels/http-sms.ts'
import { KANNEL_CONNECTION } from '../support/kannel-guide.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const TOKEN = 'gateway-token-marker-94d2'

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** The worked example of the guide: a gateway with a JSON interface. */
export const exampleGateway = (baseUrl: string): HttpSmsConfig => ({
  request: {
    url: `${baseUrl}/v1/messages`,
    headers: { Authorization: 'Bearer {{secret.token}}' },
    json: {
      destination: '{{toDigits}}',
      originator: '{{from}}',
      text: '{{text}}',
      unicode: false,
      reference: '{{attemptId}}',
      report: { url: '{{receiptUrl}}' },
    },
  },
  answer: {
    format: 'json',
    id: 'message.id',
    status: 'message.state',
    takenStatuses: ['QUEUED', 'SENT'],
    error: 'error.code',
    errorText: 'error.text',
    errors: {
      'invalid-destination': { means: 'recipient', text: 'The gateway does not know the number.' },
      'invalid-originator': { means: 'sender' },
      'too-long': { means: 'message' },
      'no-credit': { means: 'operator', text: 'The account at the gateway is empty.' },
      busy: { means: 'later' },
      'slow-down': { means: 'throttled' },
    },
    notTakenHttpStatuses: [503],
  },
  receipts: {
    format: 'json',
    items: 'reports',
    id: 'id',
    status: 'state',
    statuses: { DELIVERED: 'delivered', FAILED: 'undelivered', SENT: 'sent', WAITING: 'ignored' },
    code: 'reason.code',
    at: 'time',
    proof: {
      by: 'hmac',
      header: 'X-Signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: 'sha256=',
      secret: 'hook',
    },
  },
  probe: { url: `${baseUrl}/v1/account`, headers: { Authorization: 'Bearer {{secret.token}}' } },
  secrets: { token: TOKEN, hook: 'hook-secret-marker-11aa' },
  from: 'Acme',
})

export const httpSmsFixture: HttpFixture<HttpSmsConfig> = {
  provider: httpSmsProvider,
  configFor: exampleGateway,
  taken: nth => json(202, { message: { id: `g-${nth}`, state: 'QUEUED' } }),
  refused: json(422, { error: { code: 'invalid-destination', text: 'no' } }),
  throttled: json(429, { error: { code: 'slow-down' } }),
  notNow: json(503, { error: { code: 'busy' } }),
  tested: json(200, { balance: 3 }),
}

const failing = (code: string, outcome: Exchange<HttpSmsConfig>['outcome'], link: 'up' | 'down' = 'up') => ({
  name: `error ${code}`,
  answer: json(422, { error: { code, text: 'words' } }),
  outcome: { providerCode: code, ...outcome } as Exchange<HttpSmsConfig>['outcome'],
  link,
})

/** A gateway that responds with a line of text. */
const lineGateway: Partial<HttpSmsConfig> = {
  answer: {
    format: 'text',
    id: '^OK:\\s*(\\S+)',
    error: '^ERR:\\s*(\\d+)',
    errors: { '105': { means: 'recipient' }, '301': { means: 'operator' } },
  },
}

/** A gateway whose errors are words. */
const wordyGateway: Partial<HttpSmsConfig> = {
  answer: { format: 'text', id: '^OK:\\s*(\\S+)', error: '^ERR:\\s*(.+)' },
}

/** A gateway that responds as Kannel's sendsms does. */
const kannel: Partial<HttpSmsConfig> = { answer: KANNEL_CONNECTION.answer }

const fromKannel = (
  status: number,
  body: string,
  outcome: Exchange<HttpSmsConfig>['outcome'],
  link: 'up' | 'down' = 'up',
) => ({ name: `Kannel's ${status} ${body}`, config: kannel, answer: { status, body }, outcome, link })

export const httpSmsExchanges: readonly Exchange<HttpSmsConfig>[] = [
  {
    name: 'a message in JSON, with special characters escaped',
    message: { text: 'Say "hi", {{secret.token}} \\ \n </text>' },
    request: {
      method: 'POST',
      path: '/v1/messages',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      json: {
        destination: '447700900123',
        originator: 'Acme',
        text: 'Say "hi", {{secret.token}} \\ \n </text>',
        unicode: false,
        reference: 'msg_00000000000000000000000001.1',
        report: { url: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001' },
      },
    },
    answer: json(202, { message: { id: 17, state: 'QUEUED' } }),
    outcome: { kind: 'accepted', providerId: '17' },
    link: 'up',
  },
  {
    name: 'a field without a value is omitted',
    config: { from: undefined as never },
    message: { from: null },
    request: {
      json: {
        destination: '447700900123',
        text: 'short',
        unicode: false,
        reference: 'msg_00000000000000000000000001.1',
        report: { url: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001' },
      },
    },
    answer: json(200, { message: { id: 'a', state: 'SENT' } }),
    outcome: { kind: 'accepted' },
  },
  failing('invalid-destination', {
    kind: 'rejected',
    code: 'RECIPIENT_REJECTED',
    detail: 'The gateway does not know the number.',
  }),
  failing('invalid-originator', { kind: 'rejected', code: 'SENDER_REJECTED' }),
  failing('too-long', { kind: 'rejected', code: 'MESSAGE_REJECTED' }),
  failing('no-credit', { kind: 'retry' }, 'down'),
  failing('busy', { kind: 'retry' }),
  failing('slow-down', { kind: 'throttled', afterMs: 1_000 }),
  failing('never-heard-of', { kind: 'rejected', code: 'MESSAGE_REJECTED' }),
  {
    name: 'a status that does not mean accepted',
    answer: json(200, { message: { id: 'a', state: 'REFUSED' } }),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: 'REFUSED' },
  },
  {
    name: 'an id without a status: unknown',
    answer: json(200, { message: { id: 'a' } }),
    outcome: { kind: 'unknown' },
  },
  {
    name: 'a numeric id beyond the precision of a double',
    answer: { status: 200, body: '{"message": {"id": 9223372036854775801, "state": "QUEUED"}}' },
    outcome: { kind: 'accepted', providerId: '9223372036854775801' },
  },
  {
    name: 'HTTP 503, which this gateway documents as not accepted: retry',
    answer: json(503, {}),
    outcome: { kind: 'retry', providerCode: 'HTTP 503' },
  },
  {
    name: 'such a 503 with Retry-After: retry, not before that time',
    answer: json(503, {}, { 'Retry-After': '90' }),
    outcome: { kind: 'retry', providerCode: 'HTTP 503', atLeastMs: 90_000 },
  },
  {
    name: 'an error that means later, with a date in Retry-After: retry, after an hour at most',
    answer: json(429, { error: { code: 'busy' } }, { 'Retry-After': 'Fri, 01 Jan 2100 00:00:00 GMT' }),
    outcome: { kind: 'retry', providerCode: 'busy', atLeastMs: 3_600_000 },
  },
  {
    name: 'a request that was not processed, with Retry-After: retry, not before that time',
    answer: json(408, {}, { 'Retry-After': '5' }),
    outcome: { kind: 'retry', providerCode: 'HTTP 408', atLeastMs: 5_000 },
  },
  {
    name: 'HTTP 500, which this gateway does not document: unknown',
    answer: json(500, {}),
    outcome: { kind: 'unknown' },
  },
  {
    name: 'a message in a query, with a response in plain text',
    config: {
      ...lineGateway,
      request: {
        method: 'GET',
        url: 'BASE/send?v=2&to={{toDigits}}',
        query: { from: '{{from}}', text: '{{text}}', coding: '{{encoding}}', key: '{{secret.token}}' },
      },
    },
    message: { text: 'a&b=c d+é{' },
    request: {
      method: 'GET',
      path: `/send?v=2&to=447700900123&from=Acme&text=a%26b%3Dc+d%2B%C3%A9%7B&coding=GSM-7&key=${TOKEN}`,
      body: '',
    },
    answer: { status: 200, body: 'OK: 5f0c-1\n' },
    outcome: { kind: 'accepted', providerId: '5f0c-1' },
  },
  {
    name: 'an error in plain text, with HTTP 200',
    config: lineGateway,
    answer: { status: 200, body: 'ERR: 105' },
    outcome: { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '105' },
  },
  ...[
    { what: 'the text', answer: { result: 'Code 483920 is yours' } },
    { what: 'a one-time code', answer: { result: '483920' } },
    { what: 'a secret', answer: { result: `key=${TOKEN}` } },
  ].map(({ what, answer }) => ({
    name: `${what} in the place of the id: not kept`,
    config: { answer: { format: 'json' as const, id: 'result' } },
    message: { text: 'Code 483920 is yours', messageType: 'otp' as const },
    answer: json(200, answer),
    outcome: { kind: 'accepted' as const, providerId: 'msg_00000000000000000000000001.1' },
  })),
  {
    name: 'an id that contains a one-time code by chance',
    config: { answer: { format: 'json', id: 'result' } },
    message: { text: 'Code 483920 is yours', messageType: 'otp' },
    answer: json(200, { result: '99483920771' }),
    outcome: { kind: 'accepted', providerId: '99483920771' },
  },
  {
    name: 'JSON behind a byte order mark',
    answer: { status: 200, body: '\ufeff{"message":{"id":"a-1","state":"SENT"}}' },
    outcome: { kind: 'accepted', providerId: 'a-1' },
    link: 'up',
  },
  {
    name: 'a line of text behind a byte order mark',
    config: lineGateway,
    answer: { status: 200, body: '\ufeffOK: 5f0c-1' },
    outcome: { kind: 'accepted', providerId: '5f0c-1' },
  },
  {
    name: 'an error that quotes a one-time code',
    config: wordyGateway,
    message: { text: 'Your verification code is 483920', messageType: 'otp' },
    answer: { status: 200, body: 'ERR: forbidden content (verification code is 483920)' },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: 'withheld' },
  },
  {
    name: 'an error that quotes the text, or a secret',
    config: wordyGateway,
    message: { text: 'See you at noon', messageType: 'utility' },
    answer: { status: 200, body: `ERR: no right of ${TOKEN}: See you at noon` },
    outcome: { kind: 'rejected', providerCode: 'withheld' },
  },
  {
    name: 'an error that quotes a secret as it was encoded in the request',
    config: { ...wordyGateway, secrets: { token: 'p@ss w&rd', hook: 'h' } },
    answer: { status: 422, body: 'ERR: bad request /send?key=p%40ss+w%26rd' },
    outcome: { kind: 'rejected', providerCode: 'withheld' },
  },
  {
    name: 'an error text that quotes a secret as it was encoded in the request',
    config: { secrets: { token: 'p@ss w&rd', hook: 'h' } },
    answer: json(400, { error: { text: 'bad request /send?key=p%40ss%20w%26rd' } }),
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400.' },
  },
  {
    name: 'an error in words about a one-time code that does not quote it',
    config: wordyGateway,
    message: { text: 'Your verification code is 483920', messageType: 'otp' },
    answer: { status: 422, body: 'ERR: E1042 forbidden content' },
    outcome: { kind: 'rejected', providerCode: 'E1042 forbidden content' },
  },
  {
    name: 'a gateway that returns no id, with the encoding UCS-2 as a number',
    config: {
      ...kannel,
      request: {
        method: 'GET',
        url: 'BASE/cgi-bin/sendsms',
        query: { to: '{{toDigits}}', text: '{{text}}', coding: '{{coding}}', dcs: '{{dataCoding}}' },
      },
    },
    message: { text: 'Grüße ✓' },
    request: {
      path: '/cgi-bin/sendsms?to=447700900123&text=Gr%C3%BC%C3%9Fe+%E2%9C%93&coding=2&dcs=8',
    },
    answer: { status: 202, body: '0: Accepted for delivery' },
    outcome: { kind: 'accepted', providerId: 'msg_00000000000000000000000001.1' },
  },
  {
    name: 'the encoding GSM-7 as a number',
    config: { request: { url: 'BASE/send', form: { coding: '{{coding}}', dcs: '{{dataCoding}}' } } },
    message: { text: 'Gruesse' },
    request: { form: { coding: '0', dcs: '0' } },
    answer: json(200, { message: { id: 'a', state: 'SENT' } }),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a status that does not mean accepted, from a gateway that returns no id',
    config: kannel,
    answer: { status: 202, body: '7: no such thing' },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '7' },
  },
  fromKannel(202, '3: Queued for later delivery', { kind: 'accepted' }),
  fromKannel(202, 'Sent. Message splits: 3', { kind: 'accepted' }),
  fromKannel(403, 'Not routable. Do not try again.', { kind: 'rejected', code: 'RECIPIENT_REJECTED' }),
  fromKannel(400, 'Number(s) has/have been denied by white- and/or black-lists.', {
    kind: 'rejected',
    code: 'RECIPIENT_REJECTED',
  }),
  fromKannel(400, 'Sender missing and no global set, rejected', {
    kind: 'rejected',
    code: 'SENDER_REJECTED',
  }),
  fromKannel(400, 'Charset or body misformed, rejected', {
    kind: 'rejected',
    code: 'MESSAGE_REJECTED',
    detail: 'The provider refuses the request with HTTP 400: Charset or body misformed, rejected',
  }),
  fromKannel(403, 'Authorization failed for sendsms', { kind: 'retry' }, 'down'),
  fromKannel(503, 'Temporal failure, try again later.', { kind: 'retry' }),
  fromKannel(500, 'Sending failed.', { kind: 'unknown' }),
  {
    name: 'a response without a status, from a gateway that returns no id',
    config: kannel,
    answer: { status: 202, body: 'Hello' },
    outcome: { kind: 'unknown' },
  },
  {
    name: 'a message in a form',
    config: {
      request: { url: 'BASE/send', form: { to: '{{to}}', text: '{{text}}', dlr: '{{receiptUrl}}' } },
      receipts: undefined as never,
    },
    message: { text: 'a&b' },
    request: {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      form: { to: '+447700900123', text: 'a&b' },
    },
    answer: json(200, { message: { id: 'a', state: 'SENT' } }),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a message in XML, with special characters escaped',
    config: {
      request: {
        url: 'BASE/send',
        headers: { 'content-type': 'text/xml' },
        xml: '<sms from="{{from}}"><to>{{toDigits}}</to><body>{{text}}</body></sms>',
      },
    },
    message: { text: '1 < 2 & "3"</body>', from: `A'B` },
    request: {
      headers: { 'content-type': 'text/xml' },
      body: '<sms from="A&apos;B"><to>447700900123</to><body>1 &lt; 2 &amp; &quot;3&quot;&lt;/body&gt;</body></sms>',
    },
    answer: json(200, { message: { id: 'a', state: 'SENT' } }),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a character that XML cannot contain: rejected without a request',
    config: { request: { url: 'BASE/send', xml: '<sms to="{{to}}">{{text}}</sms>' } },
    message: { text: 'One page\fand the next' },
    answer: { status: 500 },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  {
    name: 'a value that a header cannot contain: rejected without a request',
    config: { request: { url: 'BASE/send', headers: { 'X-Text': '{{text}}' } } },
    message: { text: 'a\r\nX-Evil: 1' },
    answer: { status: 500 },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  {
    name: 'a text that would make a segment of dots in the path: rejected without a request',
    config: { request: { method: 'GET', url: 'BASE/send/{{toDigits}}/{{text}}' } },
    message: { text: '..' },
    answer: { status: 500 },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED' },
  },
  {
    name: 'a text of dots elsewhere in the URL',
    config: { request: { method: 'GET', url: 'BASE/send/v1.{{text}}?text={{text}}' } },
    message: { text: '..' },
    request: { path: '/send/v1...?text=..' },
    answer: json(200, { message: { id: 'a', state: 'SENT' } }),
    outcome: { kind: 'accepted' },
  },
]

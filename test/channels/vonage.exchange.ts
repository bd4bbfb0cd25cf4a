import { type VonageConfig, vonageProvider } from '../../src/channels/vonage.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const API_SECRET = 'secret-marker-81c4'
export const SIGNATURE_SECRET = 'signature-marker-5a0f'

type Part = { status: string; id?: string; text?: string }

/** A response of the SMS API, which is HTTP 200 whatever the outcome. */
const answer = (...parts: Part[]) => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    'message-count': String(parts.length),
    messages: parts.map(({ status, id, text }) => ({
      to: '447700900123',
      status,
      ...(id !== undefined && {
        'message-id': id,
        'remaining-balance': '3.14',
        'message-price': '0.03',
        network: '23410',
      }),
      ...(text !== undefined && { 'error-text': text }),
    })),
  }),
})

export const vonageFixture: HttpFixture<VonageConfig> = {
  provider: vonageProvider,
  configFor: baseUrl => ({ apiKey: 'abcd1234', apiSecret: API_SECRET, baseUrl, from: 'Acme' }),
  taken: nth => answer({ status: '0', id: `0A00000001${nth}` }),
  refused: answer({ status: '7', text: 'Number Barred' }),
  throttled: answer({ status: '1', text: 'Throughput Rate Exceeded - please wait [ 500 ] and retry' }),
  notNow: answer({ status: '5', text: 'Internal Error' }),
  tested: { status: 200, body: '{"value":3.14,"autoReload":false}' },
}

const refusal = (status: string, outcome: Exchange<VonageConfig>['outcome'], link: 'up' | 'down' = 'up') => ({
  name: `status ${status}`,
  answer: answer({ status, text: 'Some words' }),
  outcome: { providerCode: status, ...outcome } as Exchange<VonageConfig>['outcome'],
  link,
})

export const vonageExchanges: readonly Exchange<VonageConfig>[] = [
  {
    name: 'a message',
    message: { text: 'Hello & goodbye' },
    request: {
      method: 'POST',
      path: '/sms/json',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      form: {
        api_key: 'abcd1234',
        api_secret: API_SECRET,
        to: '447700900123',
        from: 'Acme',
        text: 'Hello & goodbye',
        'client-ref': 'msg_00000000000000000000000001.1',
        callback: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001?t=receipt-token',
      },
    },
    answer: answer({ status: '0', id: '0A1' }),
    outcome: { kind: 'accepted', providerId: '0A1', parts: 1 },
    link: 'up',
  },
  {
    name: 'a text beyond GSM 03.38, from a number',
    message: { text: 'Привет', from: '+12025550123' },
    request: { form: { type: 'unicode', from: '12025550123', text: 'Привет' } },
    answer: answer({ status: '0', id: '0A1' }),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'an account with signed receipts: no token in the callback URL',
    config: { signatureSecret: SIGNATURE_SECRET, signatureMethod: 'sha256' },
    request: {
      form: { callback: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001' },
    },
    answer: answer({ status: '0', id: '0A1' }),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'several parts: the provider id joins their ids',
    answer: answer({ status: '0', id: '0A1' }, { status: '0', id: '0A2' }),
    outcome: {
      kind: 'accepted',
      providerId: '0A1,0A2',
      parts: 2,
      pieces: { whole: '0A1,0A2', ids: ['0A1', '0A2'], total: 2 },
    },
  },
  {
    name: 'a rejected part after an accepted one: unknown',
    answer: answer({ status: '0', id: '0A1' }, { status: '1', text: 'Throttled' }),
    outcome: { kind: 'unknown', providerCode: '1', pieces: { whole: '0A1,…', ids: ['0A1'], total: 2 } },
  },
  refusal('1', { kind: 'throttled', afterMs: 1_000 }),
  refusal('2', { kind: 'rejected', code: 'MESSAGE_REJECTED' }),
  refusal('4', { kind: 'retry' }, 'down'),
  refusal('5', { kind: 'retry' }),
  refusal('6', { kind: 'rejected', code: 'RECIPIENT_REJECTED' }),
  refusal('7', { kind: 'rejected', code: 'RECIPIENT_REJECTED' }),
  refusal('9', { kind: 'retry' }, 'down'),
  refusal('15', { kind: 'rejected', code: 'SENDER_REJECTED' }),
  refusal('777', {
    kind: 'rejected',
    code: 'MESSAGE_REJECTED',
    detail: 'Vonage refuses the message with status 777: Some words',
  }),
  {
    name: 'an error text that contains the API secret is not kept',
    answer: answer({ status: '777', text: `bad api_secret ${API_SECRET}` }),
    outcome: { kind: 'rejected', detail: 'Vonage refuses the message with status 777.' },
  },
  { name: 'a successful response without parts', answer: answer(), outcome: { kind: 'unknown' } },
  {
    name: 'a successful response without an id',
    answer: answer({ status: '0' }),
    outcome: { kind: 'unknown', providerCode: 'HTTP 200' },
  },
  {
    name: 'a part whose status is no text',
    answer: answer({ status: { toString: 1 } as never, id: 'a' }),
    outcome: { kind: 'unknown', providerCode: 'HTTP 200' },
    link: 'up',
  },
  {
    name: 'HTTP 401 from the gateway in front of the API',
    answer: { status: 401, body: '{"type":"unauthorized"}' },
    outcome: { kind: 'retry' },
    link: 'down',
  },
  {
    name: 'HTTP 429',
    answer: { status: 429, headers: { 'Retry-After': '2' } },
    outcome: { kind: 'throttled', afterMs: 2_000 },
  },
  { name: 'HTTP 500', answer: { status: 500 }, outcome: { kind: 'unknown', providerCode: 'HTTP 500' } },
]

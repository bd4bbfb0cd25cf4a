import { type TwilioConfig, twilioProvider } from '../../src/channels/twilio.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const ACCOUNT = `AC${'0123456789abcdef'.repeat(2)}`
const SERVICE = `MG${'0123456789abcdef'.repeat(2)}`
const API_KEY = `SK${'0123456789abcdef'.repeat(2)}`
export const AUTH_TOKEN = 'auth-token-marker-3d7e'
const MESSAGES = `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`

/** A response as in Twilio's documentation. */
const created = (sid: string, more: object = {}) => ({
  status: 201,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    account_sid: ACCOUNT,
    api_version: '2010-04-01',
    body: 'Hello',
    direction: 'outbound-api',
    error_code: null,
    error_message: null,
    num_segments: '1',
    sid,
    status: 'queued',
    to: '+447700900123',
    ...more,
  }),
})

const error = (status: number, code: number, message = 'Something about the request', headers = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }),
})

export const twilioFixture: HttpFixture<TwilioConfig> = {
  provider: twilioProvider,
  configFor: baseUrl => ({ accountSid: ACCOUNT, authToken: AUTH_TOKEN, baseUrl, from: '+12025550100' }),
  taken: nth => created(`SM${String(nth).padStart(32, '0')}`),
  refused: error(400, 21211),
  throttled: error(429, 20429),
  notNow: error(400, 21611),
  tested: { status: 200, body: JSON.stringify({ sid: ACCOUNT, status: 'active' }) },
}

const rejection = (code: number, as: 'RECIPIENT_REJECTED' | 'SENDER_REJECTED' | 'MESSAGE_REJECTED') => ({
  name: `${code}: ${as}`,
  answer: error(400, code),
  outcome: { kind: 'rejected', code: as, providerCode: String(code) } as const,
  link: 'up' as const,
})

export const twilioExchanges: readonly Exchange<TwilioConfig>[] = [
  {
    name: 'a message with its own sender',
    message: { text: 'Grüße & 1+1=2', from: 'Acme' },
    request: {
      method: 'POST',
      path: MESSAGES,
      headers: {
        authorization: `Basic ${Buffer.from(`${ACCOUNT}:${AUTH_TOKEN}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      form: {
        To: '+447700900123',
        From: 'Acme',
        Body: 'Grüße & 1+1=2',
        StatusCallback:
          'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001?attempt=msg_00000000000000000000000001.1',
      },
    },
    answer: created('SM1', { num_segments: '2' }),
    outcome: { kind: 'accepted', providerId: 'SM1', parts: 2 },
    link: 'up',
  },
  {
    name: 'a number as the sender, which gets a plus sign',
    message: { from: '12025550123' },
    request: { form: { From: '+12025550123' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a short code as the sender, which stays unchanged',
    message: { from: '12345' },
    request: { form: { From: '12345' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'no sender: that of the connection is used',
    message: { from: null },
    request: { form: { From: '+12025550100' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'no sender: the Messaging Service is used, and the parts are not counted yet',
    config: { messagingServiceSid: SERVICE },
    message: { from: null },
    request: { form: { MessagingServiceSid: SERVICE } },
    answer: created('SM1', { num_segments: '0', status: 'accepted' }),
    outcome: { kind: 'accepted', providerId: 'SM1' },
  },
  {
    name: 'an API key instead of the auth token',
    config: { apiKeySid: API_KEY, apiKeySecret: 'key-secret' },
    request: {
      headers: { authorization: `Basic ${Buffer.from(`${API_KEY}:key-secret`).toString('base64')}` },
    },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  rejection(21211, 'RECIPIENT_REJECTED'),
  rejection(21408, 'RECIPIENT_REJECTED'),
  rejection(21610, 'RECIPIENT_REJECTED'),
  rejection(21614, 'RECIPIENT_REJECTED'),
  rejection(21212, 'SENDER_REJECTED'),
  rejection(21606, 'SENDER_REJECTED'),
  rejection(21617, 'MESSAGE_REJECTED'),
  {
    name: 'an unknown error code: the outcome of the HTTP status, with the error text of Twilio',
    answer: error(400, 29999, 'Never heard of'),
    outcome: {
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '29999',
      detail: 'The provider refuses the request with HTTP 400: Never heard of',
    },
  },
  {
    name: 'an unknown error code for a one-time code: the error text is not kept',
    message: { messageType: 'otp' },
    answer: error(400, 29999, 'Your code is 123456'),
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400.' },
  },
  {
    name: 'too many requests: throttled for the time in Retry-After',
    answer: error(429, 20429, 'Too Many Requests', { 'Retry-After': '7' }),
    outcome: { kind: 'throttled', afterMs: 7_000, providerCode: '20429' },
    link: 'up',
  },
  {
    name: 'a full queue of the sender: retry after a minute',
    answer: error(400, 21611),
    outcome: { kind: 'retry', afterMs: 60_000, providerCode: '21611', fault: 'sender' },
    link: 'up',
  },
  {
    name: 'wrong credentials: retry, and the link is down',
    answer: error(401, 20003, 'Authenticate'),
    outcome: { kind: 'retry', providerCode: '20003' },
    link: 'down',
  },
  {
    name: 'an inactive account, with HTTP 403 and no body: retry, and the link is down',
    answer: { status: 403 },
    outcome: { kind: 'retry', providerCode: 'HTTP 403' },
    link: 'down',
  },
  {
    name: 'HTTP 500: unknown',
    answer: error(500, 20500),
    outcome: { kind: 'unknown', providerCode: '20500' },
  },
  {
    name: 'HTTP 503: unknown',
    answer: error(503, 20503),
    outcome: { kind: 'unknown', providerCode: '20503' },
  },
  {
    name: 'HTTP 502 with the error code of a rejection: unknown',
    answer: error(502, 21211),
    outcome: { kind: 'unknown', providerCode: '21211' },
  },
  {
    name: 'a successful response without an id',
    answer: { status: 201, body: '{"status":"queued"}' },
    outcome: { kind: 'unknown', providerCode: 'HTTP 201' },
  },
  {
    name: 'a successful response with an HTML page',
    answer: { status: 200, body: '<html>Welcome to the hotel network</html>' },
    outcome: { kind: 'unknown' },
  },
  {
    name: 'a redirect with HTTP 307, which is not followed: retry',
    answer: { status: 307, headers: { Location: 'http://127.0.0.1:1/' } },
    outcome: { kind: 'retry', providerCode: 'HTTP 307' },
    link: 'down',
  },
  {
    name: 'a redirect with HTTP 303: unknown, as the message may have been accepted',
    answer: { status: 303, headers: { Location: 'http://127.0.0.1:1/' } },
    outcome: { kind: 'unknown', providerCode: 'HTTP 303' },
  },
]

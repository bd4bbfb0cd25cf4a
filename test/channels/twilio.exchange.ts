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
    name: 'a message with a sender of its own',
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
    name: 'a number as the sender gets its plus, and a short code none',
    message: { from: '12025550123' },
    request: { form: { From: '+12025550123' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'a short code',
    message: { from: '12345' },
    request: { form: { From: '12345' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'no sender: the connection’s',
    message: { from: null },
    request: { form: { From: '+12025550100' } },
    answer: created('SM1'),
    outcome: { kind: 'accepted' },
  },
  {
    name: 'no sender: the Messaging Service chooses, and counts no parts yet',
    config: { messagingServiceSid: SERVICE },
    message: { from: null },
    request: { form: { MessagingServiceSid: SERVICE } },
    answer: created('SM1', { num_segments: '0', status: 'accepted' }),
    outcome: { kind: 'accepted', providerId: 'SM1' },
  },
  {
    name: 'an API key instead of the token',
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
    name: 'a code that is not known goes by its status, with Twilio’s words',
    answer: error(400, 29999, 'Never heard of'),
    outcome: {
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '29999',
      detail: 'The provider refuses the request with HTTP 400: Never heard of',
    },
  },
  {
    name: 'of a one-time password not even its words are kept',
    message: { messageType: 'otp' },
    answer: error(400, 29999, 'Your code is 123456'),
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400.' },
  },
  {
    name: 'too many at once: rests as long as Twilio says',
    answer: error(429, 20429, 'Too Many Requests', { 'Retry-After': '7' }),
    outcome: { kind: 'throttled', afterMs: 7_000, providerCode: '20429' },
    link: 'up',
  },
  {
    name: 'a full queue of the sender: later',
    answer: error(400, 21611),
    outcome: { kind: 'retry', afterMs: 60_000, providerCode: '21611' },
    link: 'up',
  },
  {
    name: 'wrong credentials: ours to mend',
    answer: error(401, 20003, 'Authenticate'),
    outcome: { kind: 'retry', providerCode: '20003' },
    link: 'down',
  },
  {
    name: 'an account that is not active, with 403 and no body',
    answer: { status: 403 },
    outcome: { kind: 'retry', providerCode: 'HTTP 403' },
    link: 'down',
  },
  {
    name: '500 may have sent it',
    answer: error(500, 20500),
    outcome: { kind: 'unknown', providerCode: '20500' },
  },
  {
    name: '503 may have sent it: nothing says that it did not',
    answer: error(503, 20503),
    outcome: { kind: 'unknown', providerCode: '20503' },
  },
  {
    name: 'a code that would refuse does not make a 502 any surer',
    answer: error(502, 21211),
    outcome: { kind: 'unknown', providerCode: '21211' },
  },
  {
    name: 'a success without an id',
    answer: { status: 201, body: '{"status":"queued"}' },
    outcome: { kind: 'unknown', providerCode: 'HTTP 201' },
  },
  {
    name: 'a success that is a page',
    answer: { status: 200, body: '<html>Welcome to the hotel network</html>' },
    outcome: { kind: 'unknown' },
  },
  {
    name: 'a redirect is not followed',
    answer: { status: 307, headers: { Location: 'http://127.0.0.1:1/' } },
    outcome: { kind: 'retry', providerCode: 'HTTP 307' },
    link: 'down',
  },
  {
    name: 'a redirect that may stand behind a message that was taken',
    answer: { status: 303, headers: { Location: 'http://127.0.0.1:1/' } },
    outcome: { kind: 'unknown', providerCode: 'HTTP 303' },
  },
]

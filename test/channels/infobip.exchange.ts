import { type InfobipConfig, infobipProvider } from '../../src/channels/infobip.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const API_KEY = 'api-key-marker-7f2b'
const ATTEMPT = 'msg_00000000000000000000000001.1'

const answer = (groupId: number, id: number, messageId: string | null = ATTEMPT) => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    bulkId: '2034072219640523072',
    messages: [
      {
        ...(messageId !== null && { messageId }),
        status: { groupId, groupName: 'GROUP', id, name: 'NAME', description: 'Words about it' },
        destination: '447700900123',
      },
    ],
  }),
})

/** An error of version 3, as in the API specification. */
const error = (status: number, errorCode: string, description: string) => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ errorCode, description, action: 'Check it.', violations: [], resources: [] }),
})

export const infobipFixture: HttpFixture<InfobipConfig> = {
  provider: infobipProvider,
  configFor: baseUrl => ({ apiKey: API_KEY, baseUrl, from: 'Acme' }),
  taken: nth => answer(1, 26, `${ATTEMPT}-${nth}`),
  refused: answer(5, 52),
  throttled: error(429, 'E429', 'Too many requests.'),
  notNow: answer(5, 21),
  tested: { status: 200, body: '{"results":[]}' },
}

export const infobipExchanges: readonly Exchange<InfobipConfig>[] = [
  {
    name: 'a message',
    message: { text: 'Привет "you"' },
    request: {
      method: 'POST',
      path: '/sms/3/messages',
      headers: { authorization: `App ${API_KEY}`, 'content-type': 'application/json' },
      json: {
        messages: [
          {
            sender: 'Acme',
            destinations: [{ to: '447700900123', messageId: ATTEMPT }],
            content: { text: 'Привет "you"' },
            webhooks: {
              delivery: {
                url: 'https://posthorn.example.org/webhooks/x/cnn_00000000000000000000000001?t=receipt-token',
              },
              contentType: 'application/json',
            },
          },
        ],
      },
    },
    answer: answer(1, 26),
    outcome: { kind: 'accepted', providerId: ATTEMPT },
    link: 'up',
  },
  { name: 'the status group ACCEPTED', answer: answer(0, 0), outcome: { kind: 'accepted' } },
  {
    name: 'a response without an id: the provider id is that of the request',
    answer: answer(1, 26, null),
    outcome: { kind: 'accepted', providerId: ATTEMPT },
  },
  {
    name: 'an invalid number',
    answer: answer(5, 52),
    outcome: { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '52' },
    link: 'up',
  },
  {
    name: 'a sender that is not allowed',
    answer: answer(5, 11),
    outcome: { kind: 'rejected', code: 'SENDER_REJECTED', providerCode: '11' },
  },
  {
    name: 'no credit',
    answer: answer(5, 12),
    outcome: { kind: 'retry', providerCode: '12' },
    link: 'down',
  },
  {
    name: 'a rejection by a system error: retry',
    answer: answer(5, 21),
    outcome: { kind: 'retry', providerCode: '21' },
    link: 'up',
  },
  {
    name: 'a duplicate id: unknown, as the first request may have been accepted',
    answer: answer(5, 23),
    outcome: { kind: 'unknown', providerCode: '23' },
    link: 'up',
  },
  {
    name: 'an unknown rejection',
    answer: answer(5, 9_999),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '9999' },
  },
  { name: 'an unknown status group', answer: answer(42, 1), outcome: { kind: 'unknown' } },
  {
    name: 'HTTP 400, with the error text of Infobip',
    answer: error(400, 'E400', 'Request cannot be processed.'),
    outcome: {
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      detail: 'The provider refuses the request with HTTP 400: Request cannot be processed.',
    },
  },
  {
    name: 'HTTP 400 in the older error format',
    answer: {
      status: 400,
      body: '{"requestError":{"serviceException":{"messageId":"BAD_REQUEST","text":"Bad Request"}}}',
    },
    outcome: { kind: 'rejected', detail: 'The provider refuses the request with HTTP 400: Bad Request' },
  },
  {
    name: 'HTTP 401',
    answer: error(401, 'E401', 'Unauthorized'),
    outcome: { kind: 'retry', providerCode: 'HTTP 401' },
    link: 'down',
  },
  {
    name: 'HTTP 429',
    answer: error(429, 'E429', 'Too many requests'),
    outcome: { kind: 'throttled', afterMs: 1_000 },
  },
  { name: 'HTTP 500', answer: error(500, 'E500', 'Internal'), outcome: { kind: 'unknown' } },
  {
    name: 'an empty list of messages',
    answer: { status: 200, body: '{"messages":[]}' },
    outcome: { kind: 'unknown' },
  },
]

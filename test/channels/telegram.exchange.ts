import { type TelegramConfig, telegramProvider } from '../../src/channels/telegram.ts'
import { VAULT_SECRET } from './conformance.ts'
import type { Exchange, HttpFixture } from './http-fixture.ts'

export const BOT = 'bot_00000000000000000000000001'

const json = (status: number, body: unknown) => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

/** A response as in "Making requests" of the documentation. */
const taken = (messageId: number, chatId = 100_001) =>
  json(200, {
    ok: true,
    result: { message_id: messageId, date: 1_795_000_000, chat: { id: chatId, type: 'private' } },
  })

export const telegramError = (code: number, description: string, parameters?: object) =>
  json(code, { ok: false, error_code: code, description, ...(parameters && { parameters }) })

const FORBIDDEN = 'Forbidden: bot was blocked by the user'
const TOO_MANY = 'Too Many Requests: retry after 5'

export const telegramFixture: HttpFixture<TelegramConfig> = {
  provider: telegramProvider,
  configFor: apiRoot => ({ apiRoot }),
  taken: nth => taken(nth),
  refused: telegramError(400, 'Bad Request: chat not found'),
  throttled: telegramError(429, TOO_MANY, { retry_after: 5 }),
  notNow: telegramError(429, TOO_MANY, { retry_after: 5 }),
  tested: { status: 302, headers: { Location: 'https://core.telegram.org/bots' } },
}

type Line = Exchange<TelegramConfig>

const refusal = (code: number, description: string, as: string): Line => ({
  name: `${code} ${description}: ${as}`,
  answer: telegramError(code, description),
  outcome: { kind: 'rejected', code: as as 'MESSAGE_REJECTED', providerCode: String(code) },
  link: 'up',
})

const unclear = (name: string, answer: Line['answer'], providerCode?: string): Line => ({
  name,
  answer,
  outcome: { kind: 'unknown', ...(providerCode !== undefined && { providerCode }) },
})

/** Responses that crabline does not return, worded as in the documentation and in the source of the Bot API server. */
const LINES: readonly Line[] = [
  {
    name: 'a text, with a path in the configured API root',
    config: { apiRoot: 'BASE/proxy/' },
    message: { text: '1+1=2' },
    request: {
      method: 'POST',
      path: `/proxy/bot${VAULT_SECRET}/sendMessage`,
      headers: { 'content-type': 'application/json' },
      json: { chat_id: '100001', text: '1\\+1\\=2', parse_mode: 'MarkdownV2' },
    },
    answer: taken(7),
    outcome: { kind: 'accepted', providerId: `${BOT}/100001/7` },
    link: 'up',
  },
  {
    name: 'the provider id contains the chat id of the response',
    answer: taken(8, -100_200),
    outcome: { kind: 'accepted', providerId: `${BOT}/-100200/8` },
  },
  refusal(400, 'Bad Request: chat not found', 'RECIPIENT_REJECTED'),
  refusal(400, 'Bad Request: PEER_ID_INVALID', 'RECIPIENT_REJECTED'),
  refusal(400, 'Bad Request: not enough rights to send text messages to the chat', 'RECIPIENT_REJECTED'),
  refusal(400, 'Bad Request: message text is empty', 'MESSAGE_REJECTED'),
  refusal(400, "Bad Request: can't parse entities: character '!' is reserved", 'MESSAGE_REJECTED'),
  refusal(400, 'Bad Request: failed to get HTTP URL content', 'MESSAGE_REJECTED'),
  refusal(413, 'Request Entity Too Large', 'MESSAGE_REJECTED'),
  refusal(403, FORBIDDEN, 'RECIPIENT_REJECTED'),
  refusal(403, 'Forbidden: user is deactivated', 'RECIPIENT_REJECTED'),
  refusal(401, 'Unauthorized', 'SENDER_REJECTED'),
  refusal(404, 'Not Found', 'SENDER_REJECTED'),
  {
    name: 'an error that quotes the text as it was submitted, which is not repeated',
    message: { text: 'My PIN: 12-34.' },
    answer: telegramError(400, 'Bad Request: cannot send My PIN: 12\\-34\\.'),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: 'Telegram refuses the message.' },
  },
  {
    name: '429 with retry_after: throttled for that time, for this chat',
    answer: telegramError(429, TOO_MANY, { retry_after: 5 }),
    outcome: { kind: 'throttled', afterMs: 5_000, scope: 'message', providerCode: '429' },
    link: 'up',
  },
  {
    name: '429 without retry_after: throttled for one second',
    answer: telegramError(429, 'Too Many Requests'),
    outcome: { kind: 'throttled', afterMs: 1_000 },
  },
  {
    name: '429 with a retry_after of 0: throttled for one second',
    answer: telegramError(429, 'Too Many Requests', { retry_after: 0 }),
    outcome: { kind: 'throttled', afterMs: 1_000 },
  },
  unclear('a 502 with an HTML page', { status: 502, body: '<html>502 Bad Gateway</html>' }, 'HTTP 502'),
  unclear('a 500 from the Bot API', telegramError(500, 'Internal Server Error'), '500'),
  {
    name: 'a 404 from a proxy: retry',
    answer: { status: 404, body: 'nothing here' },
    outcome: { kind: 'retry', providerCode: 'HTTP 404' },
    // The cause may be a wrong token of this one bot, so the link stays up for the others.
    link: 'up',
  },
  {
    name: 'a 413 with an HTML page from a proxy: rejected',
    answer: { status: 413, body: '<html><head><title>413 Request Entity Too Large</title></head></html>' },
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: 'HTTP 413' },
    link: 'up',
  },
  {
    name: 'a 429 from a proxy: throttled for the time in Retry-After',
    answer: { status: 429, headers: { 'Retry-After': '7' }, body: '<html>429 Too Many Requests</html>' },
    outcome: { kind: 'throttled', afterMs: 7_000, providerCode: 'HTTP 429' },
    link: 'up',
  },
  {
    name: 'a 408 from a proxy: retry',
    answer: { status: 408, body: '' },
    outcome: { kind: 'retry', providerCode: 'HTTP 408' },
    link: 'up',
  },
  {
    name: 'an error response without an error code',
    answer: json(400, { ok: false }),
    outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: 'HTTP 400' },
  },
  unclear('a successful response without a body', { status: 200, body: '' }, 'HTTP 200'),
  unclear('a successful response that is an array', json(200, [])),
  unclear('a successful response without a result', json(200, { ok: true })),
  unclear(
    'a successful response without a message id',
    json(200, { ok: true, result: { chat: { id: 1 } } }),
    'HTTP 200',
  ),
  unclear('a successful response whose result is not a message', json(200, { ok: true, result: true })),
]

export const TO_A_CHAT = { channel: 'botapp_bot', to: '100001', from: BOT } as const

export const telegramExchanges = LINES.map(line => ({ ...line, message: { ...TO_A_CHAT, ...line.message } }))

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlatform } from '../../../src/channels/telegram/platform.ts'
import type { BotSubscriber, BotView, SubscriberPage } from '../../../src/contract/bot.ts'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { lookUntil } from '../../support/look-until.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type ScriptedTelegram, startScriptedTelegram } from '../../support/scripted-telegram.ts'

/** Behaviour of Telegram that crabline does not have, from a scripted server; updates arrive by webhook. */
const PUBLIC_URL = 'https://posthorn.example.org'
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

let app: TestApp
let telegram: ScriptedTelegram
let receiver: Receiver
let account: TestAccount
let numbers = 500_000
let updates = 1

beforeAll(async () => {
  telegram = await startScriptedTelegram()
  receiver = await startReceiver()
  app = await startTestApp({
    env: {
      POSTHORN_PUBLIC_URL: PUBLIC_URL,
      POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      // Longer than any response over the loopback takes, even on a slow machine.
      POSTHORN_SYNC_WAIT_MS: '30000',
    },
  })
  account = await app.createAccount()
  await app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
  const listening = await app.call('/api/v2/webhooks', {
    method: 'POST',
    key: account.liveKey,
    body: { url: receiver.url('/hook'), events: ['*'] },
  })
  expect(listening.status, listening.text).toBe(201)
}, 60_000)
afterAll(async () => {
  telegram.answer(null)
  await app.stop()
  await receiver.close()
  await telegram.close()
})

type Registered = { bot: BotView; token: string; secret: string }

async function register(
  token = `${++numbers}:scripted-token-marker`,
  of: TestAccount = account,
): Promise<Registered> {
  const answer = await app.call('/api/v2/botapp-bots', {
    method: 'POST',
    key: of.liveKey,
    body: { token },
  })
  expect(answer.status, answer.text).toBe(201)
  const { bot } = answer.body['data'] as { bot: BotView }
  const webhook = telegram.callsOf('setWebhook').at(-1)!
  expect(webhook).toMatchObject({ token, body: { url: `${PUBLIC_URL}/webhooks/botapp/${bot.id}` } })
  return { bot, token, secret: webhook.body['secret_token'] as string }
}

/** Calls the webhook as Telegram does, and returns the id of the update. */
async function deliver({ bot, secret }: Registered, fields: object, id = ++updates): Promise<number> {
  const answer = await call(bot.id, secret, { update_id: id, ...fields })
  expect([answer.status, answer.text]).toEqual([200, 'OK'])
  return id
}

function call(botId: string, secret: string | null, body: unknown): Promise<Answer> {
  return app.call(`/webhooks/botapp/${botId}`, {
    method: 'POST',
    headers: secret === null ? {} : { [SECRET_HEADER]: secret },
    body,
  })
}

const person = (id: number, more: object = {}) => ({ id, is_bot: false, first_name: 'Ada', ...more })
const privateChat = (id: number) => ({ id, type: 'private', first_name: 'Ada' })
const seconds = () => Math.floor(app.now() / 1_000)
const textUpdate = (id: number, text: string, more: object = {}) => ({
  message: { message_id: 1, date: seconds(), chat: privateChat(id), from: person(id), text, ...more },
})
const membership = (id: number, status: string) => ({
  my_chat_member: { date: seconds(), chat: privateChat(id), from: person(id), new_chat_member: { status } },
})

/** Waits until Telegram has received that many acknowledgements of a button press. */
async function acknowledged(id: string, times: number): Promise<void> {
  await lookUntil(
    async () =>
      telegram.callsOf('answerCallbackQuery').filter(({ body }) => body['callback_query_id'] === id).length,
    count => count === times,
    20_000,
  )
}

async function subscriber({ bot }: Registered, chatId: number): Promise<BotSubscriber | undefined> {
  const path = `/api/v2/botapp-bots/${bot.id}/subscribers?q=${chatId}`
  const { subscribers } = await account.read<SubscriberPage['data']>(path)
  return subscribers.find(each => each.chatId === String(chatId))
}

function send({ bot }: Registered, chatId: number, more: object = {}, of: TestAccount = account) {
  const chat = String(chatId)
  const conversationContext = { moduleType: 'botapp_bot', accountId: bot.id, chatId: chat }
  return of.send({ to: chat, text: 'Hello!', conversationContext, ...more }, { live: true })
}

async function eventsOf(type: string, botId: string): Promise<Record<string, unknown>[]> {
  const all = () =>
    receiver.got.filter(({ body }) => body['type'] === type).map(({ body }) => body['data'] as never)
  const ofBot = () => all().filter(each => [each['accountId'], each['botId']].includes(botId as never))
  await app.until(
    async () => ofBot().length,
    count => count > 0,
  )
  return ofBot()
}

describe('webhook calls from Telegram', () => {
  test('are authenticated by the secret token, and each update is stored once', async () => {
    const bot = await register()
    expect(bot.bot.mode).toBe('webhook')
    expect(bot.secret).toMatch(/^[A-Za-z0-9_-]{32,256}$/)
    for (const secret of [null, '', 'wrong', `${bot.secret}x`, bot.secret.slice(1)]) {
      const answer = await call(bot.bot.id, secret, { update_id: 1, ...textUpdate(9_001, '/start') })
      expect([answer.status, answer.body['code']]).toEqual([401, 'UNAUTHORIZED'])
    }
    expect((await call('bot_01m7zfya87e70a0k047jvs2kk8', bot.secret, { update_id: 1 })).status).toBe(404)
    expect((await call('424242', bot.secret, { update_id: 1 })).status).toBe(404)
    for (const body of [{}, [], 'no JSON', { update_id: 'x' }]) {
      expect((await call(bot.bot.id, bot.secret, body)).status).toBe(400)
    }
    expect(await subscriber(bot, 9_001)).toBeUndefined()

    const id = await deliver(bot, textUpdate(9_001, '/start early_bird'))
    await deliver(bot, textUpdate(9_001, '/start early_bird'), id)
    // The update is stored before the response, so the test need not wait.
    expect(await subscriber(bot, 9_001)).toMatchObject({ startPayload: 'early_bird' })
    const inbound = await account.read<InboundMessageView[]>('/api/v2/inbound?from=9001')
    expect(inbound.map(({ providerMessageId }) => providerMessageId)).toEqual([`${bot.bot.id}/${id}`])
    expect(await eventsOf('bot.subscriber.started', bot.bot.id)).toEqual([
      { ...(await subscriber(bot, 9_001)) },
    ])
  })

  test('store button presses, replies and pictures, which can be downloaded; other updates are ignored', async () => {
    const bot = await register()
    const button = {
      callback_query: {
        id: '1',
        from: person(9_010, { last_name: 'L.' }),
        data: 'yes',
        message: {
          message_id: 5,
          chat: privateChat(9_010),
          reply_markup: { inline_keyboard: [[{ text: 'Oh yes', callback_data: 'yes' }]] },
        },
      },
    }
    await deliver(bot, button)
    await acknowledged('1', 1)
    const photo = [
      { file_id: 'small', file_size: 10 },
      { file_id: 'large', file_size: 99 },
    ]
    await deliver(
      bot,
      textUpdate(9_010, '', {
        text: undefined,
        caption: 'My ship',
        photo,
        reply_to_message: { message_id: 7 },
      }),
    )
    await deliver(bot, { poll: { id: '1' } })
    await deliver(bot, { message: { message_id: 1, chat: 'nowhere' } })
    const [picture, pressed] = await account.read<InboundMessageView[]>('/api/v2/inbound?from=9010')
    expect(pressed).toMatchObject({
      text: 'Oh yes',
      button: 'yes',
      buttonTitle: 'Oh yes',
      replyTo: `${bot.bot.id}/9010/5`,
      contact: { id: '9010', name: 'Ada L.' },
    })
    expect(picture).toMatchObject({
      text: 'My ship',
      media: [{ type: 'image', sizeBytes: 99 }],
      replyTo: `${bot.bot.id}/9010/7`,
      conversationContext: { moduleType: 'botapp_bot', accountId: bot.bot.id, chatId: '9010' },
    })
    expect(await subscriber(bot, 9_010)).toMatchObject({ lastName: null, startPayload: null })

    const path = picture!.media[0]!.path!
    telegram.answer(({ method, path: asked, body }) => {
      if (method === 'getFile' && body['file_id'] === 'large')
        return telegram.ok({ file_path: 'photos/a b.jpg' })
      return asked === `/file/bot${bot.token}/photos/a%20b.jpg` ? { status: 200, body: 'the ship' } : null
    })
    const file = await app.during(app.call(path, { key: account.liveKey }))
    expect([file.status, file.text]).toEqual([200, 'the ship'])
    telegram.answer(({ method }) =>
      method === 'getFile' ? telegram.error(400, 'Bad Request: file is too big') : null,
    )
    expect((await app.during(app.call(path, { key: account.liveKey }))).status).toBe(404)
    telegram.answer(null)
  })

  test('store locations, venues and contacts; a live location is stored once', async () => {
    const bot = await register()
    const say = (more: object) => deliver(bot, textUpdate(9_012, '', { text: undefined, ...more }))
    const location = { latitude: 52.520008, longitude: 13.404954 }
    await say({ location: { ...location, live_period: 900, heading: 90 } })
    const moved = { location: { latitude: 52.6, longitude: 13.5, live_period: 900 } }
    await deliver(bot, { edited_message: textUpdate(9_012, '', moved).message })
    await say({ location, venue: { location, title: 'Fernsehturm', address: 'Panoramastraße 1A' } })
    const vcard = 'BEGIN:VCARD\nFN:Ada\nTEL:+4915112345678\nEMAIL:ada@example.com\nEND:VCARD'
    await say({
      contact: {
        phone_number: '4915112345678',
        first_name: 'Ada',
        last_name: 'L.',
        user_id: 9_012,
        vcard,
      },
    })
    await say({ contact: { phone_number: '0151 12345679', first_name: 'Bob' } })
    await say({ location: { latitude: 'x' }, contact: 7 })
    const NOTHING = { text: null, media: [], location: null, contacts: [] }
    const phones = ['+4915112345678']
    const list = await account.read<InboundMessageView[]>('/api/v2/inbound?from=9012')
    expect(list.toReversed()).toMatchObject([
      { ...NOTHING, location: { ...location, name: null, address: null } },
      { ...NOTHING, location: { ...location, name: 'Fernsehturm', address: 'Panoramastraße 1A' } },
      { ...NOTHING, contacts: [{ id: '9012', name: 'Ada L.', phones, emails: ['ada@example.com'] }] },
      { ...NOTHING, contacts: [{ id: null, name: 'Bob', phones: ['0151 12345679'], emails: [] }] },
      NOTHING,
    ])
  })

  test('a download that its client abandons frees its slot for other downloads', async () => {
    const bot = await register()
    const document = { file_id: 'slow', file_name: '../../a\u202efdp.exe' }
    await deliver(bot, textUpdate(9_015, '', { text: undefined, document }))
    const [message] = await account.read<InboundMessageView[]>('/api/v2/inbound?from=9015')
    const { path, fileName } = message!.media[0]!
    expect(fileName).toBe('afdp.exe')
    const asked = () => telegram.callsOf('getFile').filter(({ token }) => token === bot.token).length
    telegram.answer(({ method }) => (method === 'getFile' ? 'silent' : null))
    const leaving = new AbortController()
    const headers = { 'X-API-Key': account.liveKey }
    const reads = Array.from({ length: 8 }, () =>
      fetch(app.url + path, { headers, signal: leaving.signal }).catch(() => null),
    )
    await lookUntil(
      async () => asked(),
      count => count === 8,
      20_000,
    )
    expect((await app.call(path!, { key: account.liveKey })).status).toBe(429)
    leaving.abort()
    await Promise.all(reads)
    telegram.answer(({ method }) => (method === 'getFile' ? telegram.error(400, 'Bad Request') : null))
    await lookUntil(
      () => app.call(path!, { key: account.liveKey }),
      ({ status }) => status === 404,
      10_000,
    )
    telegram.answer(null)
  })

  test('accept NUL characters, lone surrogates and overlong names, which are cleaned and cut', async () => {
    const bot = await register()
    const odd = { from: person(9_020, { first_name: `\0${'x'.repeat(10_000)}\ud800`, last_name: 'L\ud800' }) }
    await deliver(bot, textUpdate(9_020, '/start \0payload', odd))
    const known = await subscriber(bot, 9_020)
    expect(known!.firstName).toMatch(/^x{200,255}$/)
    expect(known!.lastName).toBe('L\ufffd')
    // JSON carries half a surrogate pair as an escape sequence.
    await deliver(bot, textUpdate(9_020, 'a\0b\udc00c'))
    const [latest] = await account.read<InboundMessageView[]>('/api/v2/inbound?from=9020')
    expect(latest).toMatchObject({ text: 'ab\ufffdc' })
  })
})

test('subscribers of a bot are listed by when they started it, newest first, page by page', async () => {
  const bot = await register()
  for (const id of [9_032, 9_031, 9_033]) {
    await deliver(bot, textUpdate(id, '/start'))
    await app.pass(1_000)
  }
  // A later message does not change the order.
  await deliver(bot, textUpdate(9_032, 'Hello'))
  const listed = async (query: string) => {
    const path = `/api/v2/botapp-bots/${bot.bot.id}/subscribers${query}`
    const { subscribers } = await account.read<SubscriberPage['data']>(path)
    return subscribers.map(({ chatId }) => chatId)
  }
  expect(await listed('')).toEqual(['9033', '9031', '9032'])
  expect(await listed('?limit=2')).toEqual(['9033', '9031'])
  expect(await listed('?limit=2&page=2')).toEqual(['9032'])
  expect(await listed('?q=903')).toEqual(['9033', '9031', '9032'])
})

describe('a button press', () => {
  const pressBy = (by: number, id: string, more: object = {}) => ({
    callback_query: { id, from: person(by), data: 'yes', ...more },
  })
  const messageTo = (chatId: number) => ({ message_id: 5, date: 0, chat: privateChat(chatId) })

  test('is acknowledged to Telegram once, and the webhook response does not wait for it', async () => {
    const bot = await register()
    const press = (id: string, more?: object) => pressBy(9_025, id, more)
    const message = messageTo(9_025)
    telegram.answer(({ method }) => (method === 'answerCallbackQuery' ? 'silent' : null))
    const id = await deliver(bot, press('press-1', { message }))
    await acknowledged('press-1', 1)
    await deliver(bot, press('press-1', { message }), id)
    // A press without a message, as on an inline result: only its arrival is recorded.
    await deliver(bot, press('press-2'))
    await acknowledged('press-2', 1)
    expect(telegram.callsOf('answerCallbackQuery').filter(({ token }) => token === bot.token)).toMatchObject([
      { body: { callback_query_id: 'press-1' } },
      { body: { callback_query_id: 'press-2' } },
    ])
    telegram.answer(null)
  })

  test('is stored even if Telegram rejects its acknowledgement as too old', async () => {
    const bot = await register()
    telegram.answer(({ method }) =>
      method === 'answerCallbackQuery'
        ? telegram.error(
            400,
            'Bad Request: query is too old and response timeout expired or query ID is invalid',
          )
        : null,
    )
    const id = await deliver(bot, pressBy(9_026, 'press-3', { message: messageTo(9_026) }))
    await acknowledged('press-3', 1)
    telegram.answer(null)
    const later = await deliver(bot, textUpdate(9_026, 'I pressed it'))
    expect(await account.read<InboundMessageView[]>('/api/v2/inbound?from=9026')).toMatchObject([
      { providerMessageId: `${bot.bot.id}/${later}`, text: 'I pressed it', button: null },
      { providerMessageId: `${bot.bot.id}/${id}`, button: 'yes' },
    ])
  })
})

test.each([
  [0, 1_000],
  [3, 3_000],
  [99_999_999_999, 3_600_000],
])('polling that Telegram throttles with retry_after %d pauses for %d ms', async (retryAfter, afterMs) => {
  const { apiRoot: root } = telegram
  const platform = createPlatform({ origin: new URL(root), root, clock: systemClock })
  telegram.answer(() => telegram.error(429, 'Too Many Requests', { retry_after: retryAfter }))
  const { signal } = new AbortController()
  const answer = await platform.updates('1:token', { offset: null, waitMs: 0 }, signal)
  telegram.answer(null)
  platform.close()
  expect(answer).toEqual({ kind: 'throttled', afterMs })
})

test('polling requests fewer updates at a time when a full batch is too large to read', async () => {
  const { apiRoot: root } = telegram
  const platform = createPlatform({ origin: new URL(root), root, clock: systemClock })
  telegram.answer(({ method, body }) => {
    if (method !== 'getUpdates') return null
    const text = 'x'.repeat(60_000)
    const all = Array.from({ length: 100 }, (_, at) => ({ update_id: at + 1, ...textUpdate(9_030, text) }))
    return telegram.ok(all.slice(0, Number(body['limit'])))
  })
  const { signal } = new AbortController()
  const answer = await platform.updates('1:token', { offset: null, waitMs: 0 }, signal)
  telegram.answer(null)
  platform.close()
  expect(answer.kind === 'answer' && answer.value.map(({ id }) => id)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ])
})

describe('a subscriber who blocks the bot', () => {
  test('gets no messages until they unblock it', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_100, '/start'))
    await deliver(bot, membership(9_100, 'kicked'))
    expect(await subscriber(bot, 9_100)).toMatchObject({ blockedAt: expect.any(String) })
    expect(await eventsOf('bot.subscriber.blocked', bot.bot.id)).toHaveLength(1)
    const before = telegram.callsOf('sendMessage').length
    const refused = await app.during(send(bot, 9_100))
    expect([refused.status, refused.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(telegram.callsOf('sendMessage').length).toBe(before)
    expect((await account.wallet()).held).toBe(0)

    await deliver(bot, membership(9_100, 'member'))
    expect(await subscriber(bot, 9_100)).toMatchObject({ blockedAt: null })
    expect(await eventsOf('bot.subscriber.returned', bot.bot.id)).toHaveLength(1)
    expect((await app.during(send(bot, 9_100))).status).toBe(200)
    // A block by a person who never started the bot creates no subscriber.
    await deliver(bot, membership(9_101, 'kicked'))
    expect(await subscriber(bot, 9_101)).toBeUndefined()
  })

  test('is detected by a 403 response of Telegram to a send', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_110, '/start'))
    telegram.answer(({ method }) =>
      method === 'sendMessage' ? telegram.error(403, 'Forbidden: bot was blocked by the user') : null,
    )
    const refused = await app.during(send(bot, 9_110))
    telegram.answer(null)
    expect([refused.status, refused.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(await subscriber(bot, 9_110)).toMatchObject({ blockedAt: expect.any(String) })
    expect(await eventsOf('bot.subscriber.blocked', bot.bot.id)).toHaveLength(1)
    expect((await account.wallet()).held).toBe(0)
    await deliver(bot, textUpdate(9_110, 'I am back'))
    expect((await app.during(send(bot, 9_110))).body['status']).toBe('sent')
  })
})

describe('a 429 response of Telegram', () => {
  /** Makes the first send to each of these chats fail with a 429. */
  function throttleOnce(chatIds: number[]): void {
    const left = new Set(chatIds.map(String))
    telegram.answer(({ method, body }) =>
      method === 'sendMessage' && left.delete(body['chat_id'] as string)
        ? telegram.error(429, 'Too Many Requests: retry after 7', { retry_after: 7 })
        : null,
    )
  }

  const callsTo = (chatId: number) =>
    telegram.callsOf('sendMessage').filter(({ body }) => body['chat_id'] === String(chatId))

  async function tookMs(answer: Answer, of: TestAccount = account): Promise<number> {
    expect(answer.body['status'], answer.text).toBe('sent')
    const { sentAt, createdAt } = await of.message(messageIdOf(answer))
    return Date.parse(sentAt!) - Date.parse(createdAt)
  }

  test('pauses the throttled chat for retry_after, and no other chat', async () => {
    const bot = await register()
    for (const id of [9_200, 9_201]) await deliver(bot, textUpdate(id, '/start'))
    throttleOnce([9_200])
    const [held, other] = await app.during(Promise.all([send(bot, 9_200), send(bot, 9_201)]))
    expect(await tookMs(held)).toBeGreaterThanOrEqual(7_000)
    expect(callsTo(9_200)).toHaveLength(2)
    expect(callsTo(9_201)).toHaveLength(1)
    const { timeline } = await account.message(messageIdOf(held))
    expect(timeline.flatMap(each => (each.event === 'attempt' ? [each.outcome] : []))).toEqual([
      'throttled',
      'accepted',
    ])
    expect(
      (await account.message(messageIdOf(other))).timeline.filter(each => each.event === 'attempt'),
    ).toHaveLength(1)
  })

  test('to two chats of a bot at once pauses the whole bot for retry_after, and no bot of another account', async () => {
    const stranger = await app.createAccount()
    const bot = await register()
    const otherBot = await register(undefined, stranger)
    for (const id of [9_210, 9_211, 9_212]) await deliver(bot, textUpdate(id, '/start'))
    await deliver(otherBot, textUpdate(9_213, '/start'))
    throttleOnce([9_210, 9_211])
    const throttled = Promise.all([send(bot, 9_210), send(bot, 9_211)])
    const throttledAt = async () => {
      const held = (await account.messages('?channel=botapp_bot')).filter(({ to }) =>
        ['9210', '9211'].includes(to),
      )
      const whole = await Promise.all(held.map(({ messageId }) => account.message(messageId)))
      return whole.flatMap(({ timeline }) =>
        timeline.filter(each => each.outcome === 'throttled').map(({ at }) => Date.parse(at)),
      )
    }
    const pausedAt = Math.max(...(await app.until(throttledAt, times => times.length === 2)))
    const [held, other] = await app.during(
      Promise.all([send(bot, 9_212), send(otherBot, 9_213, {}, stranger)]),
    )
    for (const answer of await app.during(throttled)) expect(answer.body['status'], answer.text).toBe('sent')
    telegram.answer(null)
    for (const id of [9_210, 9_211]) expect(callsTo(id)).toHaveLength(2)
    for (const id of [9_212, 9_213]) expect(callsTo(id)).toHaveLength(1)
    expect(held.body['status'], held.text).toBe('sent')
    const { sentAt } = await account.message(messageIdOf(held))
    expect(Date.parse(sentAt!) - pausedAt).toBeGreaterThanOrEqual(7_000)
    expect(await tookMs(other, stranger)).toBeLessThan(7_000)
  })
})

describe('a group', () => {
  const group = (id: number, text: string, more: object = {}) => ({
    message: {
      message_id: 3,
      date: seconds(),
      chat: { id, type: 'group', title: 'Crew' },
      from: person(9_300),
      text,
      ...more,
    },
  })

  test('is sent to under its new id after a send reveals its upgrade to a supergroup', async () => {
    const bot = await register()
    await deliver(bot, group(-9_300, '/start@scripted_bot crew'))
    expect(await subscriber(bot, -9_300)).toMatchObject({
      firstName: 'Crew',
      telegramUserId: '9300',
      startPayload: 'crew',
    })
    telegram.answer(({ body }) =>
      body['chat_id'] === '-9300'
        ? telegram.error(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
            migrate_to_chat_id: -1_009_300,
          })
        : null,
    )
    const sent = await app.during(send(bot, -9_300))
    expect(sent.body['status'], sent.text).toBe('sent')
    expect(
      telegram
        .callsOf('sendMessage')
        .map(({ body }) => body['chat_id'])
        .slice(-2),
    ).toEqual(['-9300', '-1009300'])
    expect(await subscriber(bot, -9_300)).toBeUndefined()
    expect(await subscriber(bot, -1_009_300)).toMatchObject({ firstName: 'Crew', startPayload: 'crew' })

    // The old id is still accepted, and is now mapped without a second request.
    const again = await app.during(send(bot, -9_300))
    expect(again.body['status'], again.text).toBe('sent')
    telegram.answer(null)
    expect(telegram.callsOf('sendMessage').at(-1)!.body['chat_id']).toBe('-1009300')
    expect(await account.message(messageIdOf(again))).toMatchObject({ to: '-1009300' })
    const [listed] = (await account.read<BotView[]>('/api/v2/botapp-bots')).filter(
      ({ id }) => id === bot.bot.id,
    )
    expect(listed!.subscribers).toBe(1)
  })

  test('moves to its new id on a migrate_to_chat_id message', async () => {
    const bot = await register()
    await deliver(bot, group(-9_301, '/start'))
    await deliver(bot, group(-9_301, '', { text: undefined, migrate_to_chat_id: -1_009_301 }))
    expect(await subscriber(bot, -9_301)).toBeUndefined()
    expect(await subscriber(bot, -1_009_301)).toMatchObject({ firstName: 'Crew' })
  })

  test('moves to its new id when migrate_from_chat_id arrives first', async () => {
    const bot = await register()
    await deliver(bot, group(-9_302, '/start crew'))
    await deliver(bot, group(-1_009_302, '', { text: undefined, migrate_from_chat_id: -9_302 }))
    await deliver(bot, group(-9_302, '', { text: undefined, migrate_to_chat_id: -1_009_302 }))
    expect(await subscriber(bot, -9_302)).toBeUndefined()
    expect(await subscriber(bot, -1_009_302)).toMatchObject({ startPayload: 'crew' })
    expect(await account.read<InboundMessageView[]>('/api/v2/inbound?from=-1009302')).toEqual([])
  })

  test.each([
    ['old', -9_305, -1_009_305, -9_305],
    ['new', -9_306, -1_009_306, -1_009_306],
  ])('that has moved stays suppressed if its %s id is on the list', async (_, from, to, listed) => {
    const bot = await register()
    await deliver(bot, group(from, '/start'))
    await deliver(bot, group(from, '', { text: undefined, migrate_to_chat_id: to }))
    const made = await app.call('/api/v2/suppressions', {
      method: 'POST',
      key: account.liveKey,
      body: { to: String(listed), channel: 'botapp_bot' },
    })
    expect(made.status, made.text).toBe(201)
    for (const chatId of [from, to]) {
      const sent = await app.during(send(bot, chatId, { messageType: 'marketing' }))
      expect([sent.status, sent.body['code']], sent.text).toEqual([400, 'RECIPIENT_SUPPRESSED'])
    }
    expect((await app.during(send(bot, to))).body['status']).toBe('sent')
    expect(telegram.callsOf('sendMessage').filter(({ body }) => body['chat_id'] === String(to))).toHaveLength(
      1,
    )
  })

  test('that has moved is not suppressed for the list of another account', async () => {
    const bot = await register()
    await deliver(bot, group(-9_307, '/start'))
    await deliver(bot, group(-9_307, '', { text: undefined, migrate_to_chat_id: -1_009_307 }))
    const other = await app.createAccount()
    await app.call('/api/v2/suppressions', { method: 'POST', key: other.liveKey, body: { to: '-9307' } })
    const sent = await app.during(send(bot, -1_009_307, { messageType: 'marketing' }))
    expect(sent.body['status'], sent.text).toBe('sent')
  })

  test('that removes the bot is marked as blocked, and the service message is not stored', async () => {
    const bot = await register()
    await deliver(bot, group(-9_303, '/start'))
    const chat = { id: -9_303, type: 'group', title: 'Crew' }
    await deliver(bot, {
      my_chat_member: { date: seconds(), chat, from: person(9_300), new_chat_member: { status: 'kicked' } },
    })
    const left = { id: 1, is_bot: true, first_name: 'Scripted' }
    await deliver(bot, group(-9_303, '', { text: undefined, left_chat_member: left }))
    expect(await subscriber(bot, -9_303)).toMatchObject({ blockedAt: expect.any(String) })
    expect(await account.read<InboundMessageView[]>('/api/v2/inbound?from=-9303')).toHaveLength(1)
  })

  test('that the bot joins becomes a subscriber, and service messages are not stored', async () => {
    const bot = await register()
    const joined = { new_chat_members: [{ id: 1, is_bot: true, first_name: 'Scripted' }] }
    await deliver(bot, group(-9_304, '', { text: undefined, ...joined }))
    expect(await subscriber(bot, -9_304)).toMatchObject({ firstName: 'Crew', blockedAt: null })
    for (const notice of [
      { video_chat_started: {} },
      { forum_topic_created: { name: 'Rota', icon_color: 1 } },
      { group_chat_created: true },
      { boost_added: { boost_count: 1 } },
      { write_access_allowed: { from_request: true } },
      { connected_website: 'example.org' },
      { checklist_tasks_done: { marked_as_done_task_ids: [1] } },
      { chat_owner_left: {} },
      { community_chat_added: { community: { id: 99, name: 'Sailors' } } },
      { community_chat_joined: { community: { id: 99, name: 'Sailors' } } },
      { community_chat_removed: {} },
    ])
      await deliver(bot, group(-9_304, '', { text: undefined, ...notice }))
    expect(await account.read<InboundMessageView[]>('/api/v2/inbound?from=-9304')).toEqual([])
  })
})

describe('a revoked token', () => {
  test('disables the bot until a new token is registered, and keeps its subscribers', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_400, '/start'))
    telegram.answer(({ token }) => (token === bot.token ? telegram.error(401, 'Unauthorized') : null))
    const refused = await app.during(send(bot, 9_400))
    expect([refused.status, refused.body['code']]).toEqual([400, 'MESSAGE_REJECTED'])
    const state = async () =>
      (await account.read<BotView[]>('/api/v2/botapp-bots')).find(({ id }) => id === bot.bot.id)!.state
    expect(await state()).toBe('unauthorized')
    expect(await eventsOf('bot.unauthorized', bot.bot.id)).toEqual([
      { botId: bot.bot.id, username: 'scripted_bot', state: 'unauthorized', problem: null },
    ])
    const asked = telegram.calls.length
    const again = await app.during(send(bot, 9_400))
    expect([again.status, again.body['code']]).toEqual([400, 'MESSAGE_REJECTED'])
    expect(telegram.calls.length).toBe(asked)

    const renewed = await register(`${bot.token.split(':')[0]}:another-secret`)
    expect(renewed.bot).toMatchObject({ id: bot.bot.id, state: 'active', subscribers: 1 })
    expect((await app.during(send(renewed, 9_400))).body['status']).toBe('sent')
    expect(telegram.callsOf('sendMessage').at(-1)!.token).toBe(renewed.token)
    telegram.answer(null)
  })

  test('is not assumed after a 401 on a send that a second check does not confirm', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_410, '/start'))
    telegram.answer(({ method }) => (method === 'sendMessage' ? telegram.error(401, 'Unauthorized') : null))
    await app.during(send(bot, 9_410))
    telegram.answer(null)
    expect((await app.during(send(bot, 9_410))).body['status']).toBe('sent')
  })
})

describe('a message to a bot chat', () => {
  /** The webhook calls about a message. */
  const reported = (messageId: string) =>
    receiver.got.flatMap(({ body }) =>
      (body['data'] as Record<string, unknown>)['messageId'] === messageId ? [body] : [],
    )

  test('is left unknown and is not retried after a 502 response that is not JSON', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_500, '/start'))
    telegram.answer(({ method }) => (method === 'sendMessage' ? { status: 502, body: '<html>' } : null))
    const sent = await app.during(send(bot, 9_500))
    telegram.answer(null)
    expect(sent.body['status']).toBe('queued')
    const asked = telegram.callsOf('sendMessage').length
    await app.pass(5_000)
    expect(await account.message(messageIdOf(sent))).toMatchObject({ status: 'unknown' })
    expect(telegram.callsOf('sendMessage').length).toBe(asked)
  })

  test('contains a one-time code in plain text, which is neither logged, stored nor reported', async () => {
    const bot = await register()
    await deliver(bot, textUpdate(9_510, '/start'))
    const sent = await app.during(send(bot, 9_510, { text: undefined, content: { otpCode: '739-204' } }))
    expect(sent.body['status'], sent.text).toBe('sent')
    expect(telegram.callsOf('sendMessage').at(-1)!.body['text']).toContain('739\\-204')
    expect(app.log.join('\n')).not.toContain('739-204')
    expect(await account.message(messageIdOf(sent))).toMatchObject({ text: '••••••' })
    const { rows } = await app.db.query<{ row: string }>({
      name: 't_rows_of_messages',
      text: `select m::text as row from messages m union all select o::text from outbox o
             union all select e::text from events e`,
    })
    expect(rows.some(({ row }) => row.includes('9510'))).toBe(true)
    expect(rows.filter(({ row }) => row.includes('739-204'))).toEqual([])
    await app.until(
      async () => reported(messageIdOf(sent)),
      bodies => bodies.some(({ type }) => type === 'message.sent'),
    )
    expect(JSON.stringify(receiver.got.map(({ body }) => body))).not.toContain('739-204')
  })
})

test('removing a bot whose webhook registration had an unclear result also removes the webhook', async () => {
  telegram.answer(({ method, token, body }) => {
    if (method !== 'setWebhook') return null
    telegram.webhooks.set(token, String(body['url']))
    return { status: 502, body: 'it is set, but that is lost on the way' }
  })
  const { bot, token } = await register()
  expect(bot.mode).toBeNull()
  const gone = await app.call(`/api/v2/botapp-bots/${bot.id}`, { method: 'DELETE', key: account.liveKey })
  expect(gone.status, gone.text).toBe(200)
  expect(telegram.webhooks.get(token)).toBe('')
  telegram.answer(null)
})

test('no log line contains a bot token, a webhook secret or a bot URL', () => {
  const log = app.log.join('\n')
  expect(log).not.toContain('scripted-token-marker')
  expect(log).not.toContain('/bot5')
  for (const { body } of telegram.callsOf('setWebhook')) expect(log).not.toContain(body['secret_token'])
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BotSubscriber, BotView, SubscriberPage } from '../../../src/contract/bot.ts'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { startTelegram, type Telegram } from '../../support/telegram.ts'

/** The lifecycle of a bot against crabline's Bot API: registration, start, inbound messages, replies, removal. */
let app: TestApp
let telegram: Telegram
let account: TestAccount
let bot: BotView
/** The response to the registration of the bot. */
let registered: Answer

beforeAll(async () => {
  telegram = await startTelegram()
  // Longer than any response over the loopback takes, even on a slow machine.
  app = await startTestApp({ env: { POSTHORN_SYNC_WAIT_MS: '30000' } })
  account = await app.createAccount()
  const made = await app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
  expect(made.status, made.text).toBe(201)
  registered = await register(telegram.token)
  expect(registered.status, registered.text).toBe(201)
  bot = (registered.body['data'] as { bot: BotView }).bot
}, 60_000)
afterAll(async () => {
  await app.stop()
  await telegram.close()
})

function register(token: string, key = account.liveKey): Promise<Answer> {
  return app.call('/api/v2/botapp-bots', { method: 'POST', key, body: { token } })
}

async function subscribers(query = ''): Promise<SubscriberPage['data']> {
  return account.read<SubscriberPage['data']>(`/api/v2/botapp-bots/${bot.id}/subscribers${query}`)
}

/** Writes to the bot, waits until the message is stored, and returns the subscriber. */
async function say(chatId: number, text: string, more: object = {}): Promise<BotSubscriber> {
  const update = await telegram.say(chatId, text, more)
  const found = await app.until(
    () => inbound(`${bot.id}/${update}`),
    message => message !== undefined,
  )
  expect(found).toMatchObject({ channel: 'botapp_bot', from: String(chatId), to: bot.id, text })
  const { subscribers: all } = await subscribers(`?q=${chatId}`)
  return all.find(each => each.chatId === String(chatId))!
}

async function inbound(providerMessageId: string): Promise<InboundMessageView | undefined> {
  const all = await account.read<InboundMessageView[]>('/api/v2/inbound?channel=botapp_bot&limit=500')
  return all.find(each => each.providerMessageId === providerMessageId)
}

function send(subscriber: Pick<BotSubscriber, 'chatId' | 'conversationContext'>, more: object = {}) {
  const { chatId: to, conversationContext } = subscriber
  const body = { to, channel: 'botapp_bot', text: 'Hello!', conversationContext, ...more }
  return app.during(account.send(body, { live: true }))
}

describe('a bot', () => {
  test('is registered with its token, which is not returned, stored in plain text or logged', async () => {
    expect(bot).toMatchObject({
      telegramUserId: telegram.token.split(':')[0],
      botappUserId: telegram.token.split(':')[0],
      name: 'Crabline',
      state: 'active',
      mode: 'polling',
      sandbox: false,
      subscribers: 0,
      lastUpdateAt: null,
    })
    const listed = await account.read<BotView[]>('/api/v2/botapp-bots')
    expect(listed).toEqual([bot])
    const { rows } = await app.db.query({ name: 'all_bots', text: 'select * from bots' })
    expect(JSON.stringify(rows)).not.toContain(telegram.token)
    expect(app.log.join('\n')).not.toContain(telegram.token)
    const secret = telegram.token.split(':')[1]!
    expect(registered.text).not.toContain(secret)
    for (const path of ['botapp-bots', `botapp-bots/${bot.id}/subscribers`, 'audit']) {
      const answer = await app.call(`/api/v2/${path}`, { key: account.liveKey })
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.text).not.toContain(secret)
    }
  })

  test('cannot be registered again, neither by its own account nor by another', async () => {
    const other = await app.createAccount()
    for (const key of [account.liveKey, other.liveKey]) {
      const answer = await register(telegram.token, key)
      expect([answer.status, answer.body['code']]).toEqual([409, 'CONFLICT'])
    }
  })
})

describe('a subscriber', () => {
  test('is created by /start with its payload; later messages update only the names', async () => {
    const ada = await say(8_001, '/start spring_sale', { fromName: 'Ada', fromUsername: 'ada_l' })
    expect(ada).toMatchObject({
      accountId: bot.id,
      chatId: '8001',
      telegramUserId: '8001',
      botappUserId: '8001',
      username: 'ada_l',
      firstName: 'Ada',
      lastName: null,
      startPayload: 'spring_sale',
      blockedAt: null,
      conversationKey: `botapp_bot:${bot.id}:8001`,
      conversationContext: { moduleType: 'botapp_bot', accountId: bot.id, chatId: '8001' },
    })
    const later = await say(8_001, 'Hi', { fromName: 'Ada L.' })
    expect(later).toMatchObject({ firstName: 'Ada L.', username: null, startPayload: 'spring_sale' })
    expect(later.startedAt).toBe(ada.startedAt)
    expect((await account.read<BotView[]>('/api/v2/botapp-bots'))[0]).toMatchObject({
      subscribers: 1,
      lastUpdateAt: expect.any(String),
    })
  })

  test('can be searched by chat id, username and name, page by page', async () => {
    await say(8_002, '/start', { fromName: 'Bob', fromUsername: 'bobby' })
    await say(8_003, '/start', { fromName: 'Carol', fromUsername: 'carol_d' })
    const ids = async (query: string) => (await subscribers(query)).subscribers.map(({ chatId }) => chatId)
    expect(await ids('?q=800')).toHaveLength(3)
    expect(await ids('?q=8003')).toEqual(['8003'])
    expect(await ids('?q=@BOBBY')).toEqual(['8002'])
    expect(await ids('?q=carol')).toEqual(['8003'])
    expect(await ids('?q=%25')).toEqual([])
    expect(await subscribers('?q=nobody')).toMatchObject({ total: 0, hasMore: false, subscribers: [] })

    const first = await subscribers('?limit=2')
    const second = await subscribers('?limit=2&page=2')
    expect(first).toMatchObject({ accountId: bot.id, page: 1, limit: 2, total: 3, hasMore: true })
    expect(second).toMatchObject({ page: 2, total: 3, hasMore: false })
    const chatIds = [...first.subscribers, ...second.subscribers].map(({ chatId }) => chatId)
    expect(chatIds.toSorted()).toEqual(['8001', '8002', '8003'])
    expect(await subscribers('?limit=2&page=3')).toMatchObject({ subscribers: [], hasMore: false })
  })

  test('can be sent text, a file by public URL, and an uploaded file', async () => {
    const [bob] = (await subscribers('?q=8002')).subscribers
    const sent = await send(bob!)
    expect(sent.status, sent.text).toBe(200)
    expect(sent.body).toMatchObject({
      status: 'sent',
      resolved: { channel: 'botapp_bot', provider: 'telegram', senderSource: 'bot' },
    })
    expect(telegram.callsOf('sendMessage').at(-1)!.body).toMatchObject({ chat_id: '8002', text: 'Hello\\!' })
    expect(await account.message(messageIdOf(sent))).toMatchObject({
      status: 'sent',
      conversationContext: { accountId: bot.id, chatId: '8002', conversationKey: bob!.conversationKey },
    })

    const publicUrl = 'https://cdn.example.org/ship.png'
    expect((await send(bob!, { attachment: { type: 'image', publicUrl } })).body['status']).toBe('sent')
    expect(telegram.callsOf('sendPhoto').at(-1)!.body).toMatchObject({
      photo: publicUrl,
      caption: 'Hello\\!',
    })

    const form = new FormData()
    form.set('file', new Blob(['%PDF-1.4\n%%EOF\n'], { type: 'application/pdf' }), 'bill.pdf')
    const uploaded = await fetch(`${app.url}/api/v2/templates/media`, {
      method: 'POST',
      headers: { 'x-api-key': account.liveKey },
      body: form,
    })
    const { data } = (await uploaded.json()) as { data: { asset: { id: string } } }
    const carried = await send(bob!, { attachment: { type: 'document', assetId: data.asset.id } })
    expect(carried.body['status'], carried.text).toBe('sent')
    expect(Object.values(telegram.callsOf('sendDocument').at(-1)!.body)).toContain('bill.pdf')
  })

  test('can be sent a reply with the conversationContext of their inbound message', async () => {
    const update = await telegram.say(8_004, 'Anybody there?', { fromName: 'Dora' })
    const message = await app.until(
      () => inbound(`${bot.id}/${update}`),
      each => each !== undefined,
    )
    const { conversationContext, contact } = message!
    expect(contact).toEqual({ id: '8004', name: 'Dora' })
    const answer = await send({ chatId: '8004', conversationContext: conversationContext as never })
    expect(answer.status, answer.text).toBe(200)
  })
})

describe('a send to a bot chat', () => {
  const context = (more: object = {}) => ({
    moduleType: 'botapp_bot',
    accountId: bot.id,
    chatId: '8001',
    ...more,
  })
  const refusal = (answer: Answer) => ({
    status: answer.status,
    code: answer.body['code'],
    path: (answer.body['details'] as { path: string }[] | undefined)?.[0]?.path,
  })

  test('is rejected without a complete conversationContext of the bot channel', async () => {
    const none = await send({ chatId: '8001', conversationContext: undefined as never })
    expect(refusal(none)).toEqual({ status: 400, code: 'VALIDATION_ERROR', path: 'conversationContext' })
    const web = await send({
      chatId: '8001',
      conversationContext: context({ moduleType: 'chatapp_web' }) as never,
    })
    expect(refusal(web)).toMatchObject({ status: 400, path: 'conversationContext.moduleType' })
    for (const field of ['moduleType', 'accountId', 'chatId']) {
      const part = context({ [field]: undefined }) as never
      const answer = await send({ chatId: '8001', conversationContext: part })
      expect(refusal(answer)).toMatchObject({ status: 400, path: `conversationContext.${field}` })
    }
  })

  test('is rejected for a chat that never started the bot', async () => {
    for (const chatId of ['8999', '-100200300', '@channel_name', '08001']) {
      const answer = await send({ chatId, conversationContext: context({ chatId }) as never })
      expect(refusal(answer), chatId).toEqual({
        status: 400,
        code: 'VALIDATION_ERROR',
        path: 'conversationContext.chatId',
      })
    }
  })

  test('returns 404 for a bot of another account or an unknown one, as does the subscriber list', async () => {
    const other = await app.createAccount()
    for (const accountId of [bot.id, 'bot_01m7zfya87e70a0k047jvs2kk8', 'somebot']) {
      for (const live of [true, false]) {
        if (!live && accountId === 'somebot') continue
        const answer = await other.send(
          { to: '8001', channel: 'botapp_bot', text: 'Hello', conversationContext: context({ accountId }) },
          { live },
        )
        expect(refusal(answer), accountId).toMatchObject({ status: 404, code: 'NOT_FOUND' })
      }
    }
    const read = await app.call(`/api/v2/botapp-bots/${bot.id}/subscribers`, { key: other.testKey })
    expect(refusal(read)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(read.body['error']).toBe('Bot not found')
  })

  test('is rejected without a request to Telegram for a long text or a base64 attachment', async () => {
    const before = telegram.calls.length
    const [ada] = (await subscribers('?q=8001')).subscribers
    expect(refusal(await send(ada!, { text: 'x'.repeat(4_097) }))).toMatchObject({
      status: 400,
      path: 'text',
    })
    const attachment = { type: 'image', publicUrl: 'https://cdn.example.org/a.png' }
    expect(refusal(await send(ada!, { text: 'x'.repeat(1_025), attachment }))).toMatchObject({ status: 400 })
    expect(refusal(await send(ada!, { attachment: { type: 'image', base64: 'AAAA' } }))).toMatchObject({
      status: 400,
      path: 'attachment.publicUrl',
    })
    expect(telegram.calls.slice(before).filter(({ method }) => method.startsWith('send'))).toEqual([])
  })

  test('is estimated as not deliverable for a chat that never started the bot', async () => {
    const body = { to: '8999', text: 'Hello', conversationContext: context({ chatId: '8999' }) }
    const answer = await app.call('/api/v2/messages/estimate', { method: 'POST', key: account.liveKey, body })
    expect(answer.body['data']).toMatchObject({
      deliverable: false,
      reasons: [{ code: 'VALIDATION_ERROR', path: 'conversationContext.chatId' }],
    })
  })
})

describe('removing a bot', () => {
  test('is forbidden with a test key', async () => {
    const answer = await app.call(`/api/v2/botapp-bots/${bot.id}`, { method: 'DELETE', key: account.testKey })
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect(await account.read<BotView[]>('/api/v2/botapp-bots')).toMatchObject([{ id: bot.id }])
  })

  test('deletes its subscribers and lets its token be registered again', async () => {
    const gone = await app.call(`/api/v2/botapp-bots/${bot.id}`, { method: 'DELETE', key: account.liveKey })
    expect([gone.status, gone.body['data']]).toEqual([200, { id: bot.id, deleted: true }])
    const again = await app.call(`/api/v2/botapp-bots/${bot.id}`, { method: 'DELETE', key: account.liveKey })
    expect(again.status).toBe(404)
    expect(await account.read<BotView[]>('/api/v2/botapp-bots')).toEqual([])
    await app.pass(61_000)
    const left = `select (select count(*) from bot_subscribers)::integer as subscribers,
                         (select count(*) from bot_feeds)::integer as feeds, (select count(*) from bot_removals)::integer as removals`
    const { rows } = await app.db.query({ name: 'left_of_bots', text: left })
    expect(rows).toEqual([{ subscribers: 0, feeds: 0, removals: 0 }])
    expect((await register(telegram.token)).status).toBe(201)
  })
})

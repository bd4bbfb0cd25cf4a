import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BotView, SubscriberPage } from '../../../src/contract/bot.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { nobodyListens } from '../../support/http-peer.ts'
import { startTelegram, type Telegram } from '../../support/telegram.ts'

let app: TestApp
let telegram: Telegram
let account: TestAccount
let connectionId: string

beforeAll(async () => {
  telegram = await startTelegram()
  app = await startTestApp()
  account = await app.createAccount()
  const made = await app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
  connectionId = (made.body['data'] as { connection: { id: string } }).connection.id
}, 60_000)
afterAll(async () => {
  await app.stop()
  await telegram.close()
})

const BOTS = '/api/v2/botapp-bots'
const create = (body: unknown, key = account.liveKey): Promise<Answer> =>
  app.call(BOTS, { method: 'POST', key, body })

describe('/api/v2/botapp-bots', () => {
  test.each([
    [{}, 400],
    [{ token: null }, 400],
    [{ token: 5 }, 400],
    [{ token: '' }, 400],
    [{ token: 'no token' }, 400],
    [{ token: '424242' }, 400],
    [{ token: '424242:' }, 400],
    [{ token: ':secret' }, 400],
    [{ token: '424242:sec/ret' }, 400],
    [{ token: '424242:sec?ret' }, 400],
    [{ token: '424242:../getMe' }, 400],
    [{ token: '-1:secret' }, 400],
    [{ token: ' 424242:secret' }, 400],
    [{ token: '424242:secret\n' }, 400],
    [{ token: `424242:${'x'.repeat(300)}` }, 400],
  ])('POST with %j returns %i and names the field token', async (body, status) => {
    const before = telegram.calls.length
    const answer = await create(body)
    expect([answer.status, answer.body['code']]).toEqual([status, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual(['token'])
    expect(telegram.calls.length).toBe(before)
  })

  test('POST with a token unknown to Telegram returns 400 and does not repeat the token', async () => {
    const answer = await create({ token: `${telegram.token}x` })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual(['token'])
    expect(answer.text).not.toContain(telegram.token)
  })

  test('POST returns 503 and stores nothing while Telegram is unreachable', async () => {
    const { url } = await nobodyListens()
    await app.admin('PATCH', `/connections/${connectionId}`, { config: { apiRoot: url } })
    const answer = await create({ token: telegram.token })
    await app.admin('PATCH', `/connections/${connectionId}`, { config: { apiRoot: telegram.apiRoot } })
    expect([answer.status, answer.body['code']]).toEqual([503, 'PROVIDER_UNAVAILABLE'])
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answer.text).not.toMatch(/marker|127\.0\.0\.1/)
    expect(await account.read<BotView[]>(BOTS)).toEqual([])
  })

  test('requires messages:create, except for reading subscribers, which any valid key may', async () => {
    const answer = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'reader',
      mode: 'live',
      role: 'member',
      permissions: ['messages:read'],
    })
    const { apiKey } = answer.body['data'] as { apiKey: string }
    expect((await create({ token: telegram.token }, apiKey)).body['code']).toBe('FORBIDDEN')
    expect((await app.call(BOTS, { key: apiKey })).status).toBe(403)
    expect((await app.call(`${BOTS}/bot_1`, { method: 'DELETE', key: apiKey })).status).toBe(403)
    // Any valid key may read subscribers.
    expect((await app.call(`${BOTS}/bot_1/subscribers`, { key: apiKey })).status).toBe(404)
    expect((await app.call(`${BOTS}/bot_1/subscribers`, { key: null })).status).toBe(401)
    expect((await app.call(BOTS, { key: null })).status).toBe(401)
  })

  test('returns 400 for invalid list parameters, and 405 for PUT', async () => {
    for (const query of ['?limit=0', '?limit=501', '?limit=x', '?cursor=nonsense']) {
      expect((await app.call(BOTS + query, { key: account.liveKey })).status, query).toBe(400)
    }
    expect((await app.call(BOTS, { method: 'PUT', key: account.liveKey, body: {} })).status).toBe(405)
  })
})

describe('a sandbox bot, registered with a test key', () => {
  let bot: BotView
  const TOKEN = '777000:any-secret'

  beforeAll(async () => {
    const before = telegram.calls.length
    const answer = await create({ token: TOKEN }, account.testKey)
    expect(answer.status, answer.text).toBe(201)
    bot = (answer.body['data'] as { bot: BotView }).bot
    expect(telegram.calls.length).toBe(before)
  })

  const send = (chatId: string, live = false, more: object = {}) => {
    const conversationContext = { moduleType: 'botapp_bot', accountId: bot.id, chatId, ...more }
    return app.during(account.send({ to: chatId, text: 'Hello', conversationContext }, { live }))
  }

  test('has four subscribers whose chat ids select the outcome of a send', async () => {
    expect(bot).toMatchObject({
      sandbox: true,
      mode: null,
      state: 'active',
      subscribers: 4,
      botappUserId: '777000',
    })
    const { subscribers, total } = await account.read<SubscriberPage['data']>(`${BOTS}/${bot.id}/subscribers`)
    expect(total).toBe(4)
    expect(subscribers[0]?.chatId).toBe('7000001000')
    const outcomes: Record<string, unknown> = {}
    for (const { chatId, conversationContext } of subscribers) {
      expect(conversationContext).toEqual({ moduleType: 'botapp_bot', accountId: bot.id, chatId })
      const answer = await send(chatId)
      outcomes[chatId] = answer.body['status'] ?? answer.body['code']
    }
    expect(outcomes).toEqual({
      7000001000: 'sent',
      7000000002: 'RECIPIENT_REJECTED',
      7000000004: 'sent',
      7000000005: 'queued',
    })
    expect((await account.inbox('7000001000'))[0]).toMatchObject({ channel: 'botapp_bot', sender: bot.id })
  })

  test('accepts no other chat, no live key, and no second registration by its account', async () => {
    expect(faultPaths(await send('7000009999'))).toEqual(['conversationContext.chatId'])
    expect(faultPaths(await send('7000001000', true))).toEqual(['conversationContext.accountId'])
    expect((await create({ token: TOKEN }, account.testKey)).status).toBe(409)
    const other = await app.createAccount()
    expect((await create({ token: TOKEN }, other.testKey)).status).toBe(201)
    // Any other bot name works in the sandbox without registration.
    const free = await send('7000009999', false, { accountId: 'my-bot' })
    expect(free.body['status'], free.text).toBe('sent')
  })

  test.each([
    '?page=0',
    '?page=-1',
    '?page=x',
    '?page=1.5',
    '?page=1000001',
    '?limit=0',
    '?limit=501',
    `?q=${'x'.repeat(201)}`,
  ])('returns 400 for subscribers%s', async query => {
    const answer = await app.call(`${BOTS}/${bot.id}/subscribers${query}`, { key: account.testKey })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('takes the search text literally, special characters included', async () => {
    const count = async (q: string) => {
      const answer = await app.call(`${BOTS}/${bot.id}/subscribers?q=${encodeURIComponent(q)}`, {
        key: account.testKey,
      })
      return answer.status === 200 ? (answer.body as SubscriberPage).data.total : answer.status
    }
    expect(await count('sandbox_7000000002')).toBe(1)
    expect(await count('Sandbox 0004')).toBe(1)
    expect(await count(' SANDBOX ')).toBe(4)
    for (const odd of ['%', '_x_', '\\', "'; --", '\u{1f600}']) expect(await count(odd), odd).toBe(0)
    expect([0, 400]).toContain(await count('\0'))
  })

  test('returns 404 for a malformed bot id', async () => {
    for (const id of ['x', 'bot_', `${bot.id}x`, bot.id.toUpperCase(), '%00', "'--"]) {
      expect((await app.call(`${BOTS}/${id}/subscribers`, { key: account.testKey })).status, id).toBe(404)
      expect((await app.call(`${BOTS}/${id}`, { method: 'DELETE', key: account.testKey })).status, id).toBe(
        404,
      )
    }
  })
})

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BotView, SubscriberPage } from '../../../src/contract/bot.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { startTelegram, type Telegram } from '../../support/telegram.ts'

/** crabline calls the webhook at the public URL, which is that of a proxy in front of this server. */
let telegram: Telegram
let database: TestDatabase
let proxy: Server
let publicUrl: string
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  telegram = await startTelegram()
  database = await createTestDatabase()
  proxy = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const answer = await fetch(app.url + request.url, {
      method: request.method!,
      headers,
      body: Buffer.concat(chunks),
    })
    response.writeHead(answer.status).end(await answer.text())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  app = await startTestApp({ database, env: { POSTHORN_PUBLIC_URL: publicUrl } })
  account = await app.createAccount()
  await app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
}, 60_000)
afterAll(async () => {
  await app.stop()
  await telegram.close()
  proxy.close()
  await database.drop()
})

const bots = async () =>
  (await app.call('/api/v2/botapp-bots', { key: account.liveKey })).body['data'] as BotView[]

async function untilSubscribed(botId: string, chatId: number): Promise<void> {
  await app.until(
    async () => {
      const path = `/api/v2/botapp-bots/${botId}/subscribers?q=${chatId}`
      return ((await app.call(path, { key: account.liveKey })).body as SubscriberPage).data.total
    },
    total => total === 1,
  )
}

let bot: BotView

test('receives updates by webhook at the public URL, and takes the webhook back from another program', async () => {
  const answer = await app.call('/api/v2/botapp-bots', {
    method: 'POST',
    key: account.liveKey,
    body: { token: telegram.token },
  })
  bot = (answer.body['data'] as { bot: BotView }).bot
  expect(bot.mode).toBe('webhook')
  await telegram.say(6_001, '/start')
  await untilSubscribed(bot.id, 6_001)
  expect(telegram.callsOf('getUpdates')).toEqual([])

  const elsewhere = new URLSearchParams({ url: `${publicUrl}/elsewhere` })
  const taken = await fetch(`${telegram.apiRoot}/bot${telegram.token}/setWebhook`, {
    method: 'POST',
    body: elsewhere,
  })
  expect(taken.status).toBe(200)
  // The start is later than the interval between two webhook checks, so that the check runs at once.
  await app.stop()
  app = await startTestApp({
    database,
    env: { POSTHORN_PUBLIC_URL: publicUrl },
    startMs: app.now() + 6 * 60_000,
  })
  await app.until(bots, ([first]) => first?.problem?.code === 'taken_back')
  await telegram.say(6_004, '/start')
  await untilSubscribed(bot.id, 6_004)
}, 60_000)

test('existing bots switch to polling without a public URL, and back to the webhook with one', async () => {
  await app.stop()
  app = await startTestApp({ database, startMs: app.now() })
  await app.until(bots, ([first]) => first?.mode === 'polling')
  await telegram.say(6_002, '/start')
  await untilSubscribed(bot.id, 6_002)

  await app.stop()
  app = await startTestApp({ database, env: { POSTHORN_PUBLIC_URL: publicUrl }, startMs: app.now() })
  await app.until(bots, ([first]) => first?.mode === 'webhook')
  await telegram.say(6_003, '/start')
  await untilSubscribed(bot.id, 6_003)
  expect((await bots())[0]).toMatchObject({ subscribers: 4 })
}, 60_000)

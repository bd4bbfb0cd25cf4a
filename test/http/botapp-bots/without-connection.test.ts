import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BotView } from '../../../src/contract/bot.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type ScriptedTelegram, startScriptedTelegram } from '../../support/scripted-telegram.ts'

/** Bots of live keys while no connection carries their channel: they are the sandbox's. */
const TOKEN = '424242:any-secret'
let telegram: ScriptedTelegram
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  telegram = await startScriptedTelegram()
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(async () => {
  await app.stop()
  await telegram.close()
})

function register(of: TestApp, key: string): Promise<Answer> {
  return of.call('/api/v2/botapp-bots', { method: 'POST', key, body: { token: TOKEN } })
}

function send(bot: BotView) {
  const conversationContext = { moduleType: 'botapp_bot', accountId: bot.id, chatId: '7000001000' }
  return account.send({ to: '7000001000', text: 'Hello', conversationContext }, { live: true })
}

function connect(): Promise<Answer> {
  return app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
}

test('a bot is the sandbox’s until a connection carries the channel; its token then registers a real one', async () => {
  const made = await register(app, account.liveKey)
  expect([made.status, made.headers.get('x-sandbox')]).toEqual([201, 'true'])
  const { bot } = made.body['data'] as { bot: BotView }
  expect(bot).toMatchObject({ sandbox: true, state: 'active', subscribers: 4 })
  const sent = await send(bot)
  expect(sent.headers.get('x-sandbox')).toBe('true')
  expect(sent.body).toMatchObject({ status: 'sent', resolved: { provider: 'sandbox' } })

  const connection = (await connect()).body['data'] as { connection: { id: string } }
  await app.pass(1_000)
  expect(faultPaths(await send(bot))).toEqual(['conversationContext.accountId'])
  const real = await register(app, account.liveKey)
  expect([real.status, real.headers.get('x-sandbox')]).toEqual([201, null])
  expect(real.body['data']).toMatchObject({ bot: { sandbox: false } })
  expect(telegram.calls.length).toBeGreaterThan(0)

  // A disabled connection is not passed by.
  await app.admin('PATCH', `/connections/${connection.connection.id}`, { enabled: false })
  await app.pass(1_000)
  const refused = await register(app, (await app.createAccount()).liveKey)
  expect([refused.status, refused.body['error']]).toEqual([400, expect.stringContaining('no route')])
})

test('with the sandbox off, registering one is a 400 of the route', async () => {
  const closed = await startTestApp({ env: { POSTHORN_SANDBOX: 'off' } })
  try {
    const made = await register(closed, (await closed.createAccount()).liveKey)
    expect([made.status, made.body['code'], made.body['error']]).toEqual([
      400,
      'VALIDATION_ERROR',
      expect.stringContaining('no route'),
    ])
  } finally {
    await closed.stop()
  }
})

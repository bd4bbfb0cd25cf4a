import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { connectWebSessions, sessionsOf } from '../../support/web-sessions.ts'

/** Web sessions of live keys while no connection carries their channel: they are the sandbox's. */
let server: ChatappServer
let app: TestApp
let account: TestAccount
let sessions: ReturnType<typeof sessionsOf>

beforeAll(async () => {
  server = await startChatappServer({ login: 'success', registered: () => true })
  // Encryption runs on other threads, which the test clock does not wait for.
  app = await startTestApp({ env: { POSTHORN_SYNC_WAIT_MS: '10000' } })
  account = await app.createAccount()
  sessions = sessionsOf(app, account)
})
afterAll(async () => {
  await app.stop()
  await server.close()
})

function sendOver(name: string | undefined) {
  const to = '+12025551234'
  const conversationContext = { moduleType: 'chatapp_web', accountId: name, chatId: to }
  const body = { to, channel: 'user_chatapp_session', text: 'Hello' }
  const whole = name === undefined ? body : { ...body, conversationContext }
  return app.during(account.send(whole, { live: true }))
}

test('a session is open at once in the sandbox, which takes its messages', async () => {
  const made = await sessions.create({ name: 'desk', phone: '+14155550123' })
  expect(made.headers.get('x-sandbox')).toBe('true')
  expect([made.status, made.body['data']]).toMatchObject([
    201,
    { session: { state: 'open', sandbox: true, qr: null, pairingCode: null, phone: '+14155550123' } },
  ])
  expect(await sessions.read('desk')).toMatchObject({ state: 'open', sandbox: true })
  // Test keys have sessions of their own.
  expect((await sessions.call('GET', '/desk', undefined, account.testKey)).status).toBe(404)

  const sent = await sendOver('desk')
  expect(sent.headers.get('x-sandbox')).toBe('true')
  expect(sent.body).toMatchObject({ status: 'sent', resolved: { provider: 'sandbox' } })

  expect((await sessions.call('POST', '/desk/restart')).body['data']).toMatchObject({
    state: 'open',
    sandbox: true,
  })
  expect((await sessions.call('DELETE', '/desk')).status).toBe(200)
  expect((await sessions.call('GET', '')).body['data']).toEqual([])
  expect(server.connections()).toBe(0)
})

test('once a connection carries the channel, it sends nothing until a restart links it', async () => {
  await sessions.create({ name: 'early' })
  await connectWebSessions(app, server.url)
  await app.pass(1_000)
  for (const name of ['early', undefined]) {
    expect((await sendOver(name)).body).toMatchObject({ code: 'SESSION_NOT_OPEN' })
  }
  expect((await sendOver('early')).body['error']).toContain('restart')

  const restarted = await sessions.call('POST', '/early/restart')
  expect(restarted.body['data']).toMatchObject({ state: 'connecting', sandbox: false, pairedAt: null })
  await sessions.until('early', 'open')
  expect((await sendOver('early')).body).toMatchObject({
    status: 'sent',
    resolved: { provider: 'whatsapp-web' },
  })

  const made = await sessions.create({ name: 'late' })
  expect(made.headers.get('x-sandbox')).toBeNull()
  expect(made.body['data']).toMatchObject({ session: { state: 'connecting', sandbox: false } })
})

test('with the sandbox off, it is a 400 of the route', async () => {
  const closed = await startTestApp({ env: { POSTHORN_SANDBOX: 'off' } })
  try {
    const made = await sessionsOf(closed, await closed.createAccount()).create({ name: 'desk' })
    expect([made.status, made.body['code'], made.body['error']]).toEqual([
      400,
      'VALIDATION_ERROR',
      expect.stringContaining('no route'),
    ])
  } finally {
    await closed.stop()
  }
})

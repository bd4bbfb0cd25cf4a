import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { listen } from '../../support/loopback.ts'
import { createSignals } from '../../support/signals.ts'

/** The requests that the gateway has received; the test sends each response itself. */
const pendingResponses: ServerResponse[] = []
const signals = createSignals()
const gateway = createServer((request, response) => {
  request.resume().on('end', () => {
    pendingResponses.push(response)
    signals.notify()
  })
})
let app: TestApp
let account: TestAccount
let connection: string

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  const port = await listen(gateway)
  const made = await app.admin('POST', '/connections', {
    provider: 'http-sms',
    name: 'gateway',
    channels: ['local_sms', 'int_sms'],
    config: {
      request: { url: `http://127.0.0.1:${port}/send`, json: { to: '{{to}}', text: '{{text}}' } },
      answer: { format: 'json', id: 'id' },
    },
  })
  connection = (made.body['data'] as { connection: { id: string } }).connection.id
})
afterAll(async () => {
  await app.stop()
  gateway.closeAllConnections()
  await new Promise(resolve => gateway.close(resolve))
})

test.each([
  ['given another priority', 'PATCH', { priorityOrder: 7 }],
  ['given another configuration', 'PATCH', { config: { maxConnections: 3 } }],
  ['disabled', 'PATCH', { enabled: false }],
  ['deleted', 'DELETE', undefined],
] as const)(
  'a send in flight still gets the response of its provider when its connection is %s',
  async (_, method, body) => {
    await app.admin('PATCH', `/connections/${connection}`, { enabled: true })
    const before = pendingResponses.length
    const sending = app.call('/api/v2/messages/send', {
      method: 'POST',
      key: account.liveKey,
      body: { to: '+12025550100', text: 'Good morning' },
    })
    await signals.until(() => pendingResponses.length > before)
    expect((await app.admin(method, `/connections/${connection}`, body)).status).toBe(200)
    pendingResponses[before]!.writeHead(200, { 'content-type': 'application/json' }).end(
      `{"id":"taken-${before}"}`,
    )
    expect(await sending).toMatchObject({ status: 200, body: { status: 'sent' } })
  },
)

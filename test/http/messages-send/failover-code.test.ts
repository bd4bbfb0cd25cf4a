import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Gateway, startChatGateway, startSmsGateway } from '../../support/gateways.ts'
import type { PeerAct } from '../../support/http-peer.ts'
import { createTemplateCalls } from '../templates/support.ts'

/** The SMS text of a one-time code that fails over from the chat app. */

const TO = '+12025550123'
const CODE = '918273'
const NOT_ON_THE_APP = graphError(400, 131026)
const approved: PeerAct = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ id: '5722', status: 'APPROVED', category: 'AUTHENTICATION' }),
}

let app: TestApp
let account: TestAccount
let templates: ReturnType<typeof createTemplateCalls>
let chat: Gateway
let sms: Gateway

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_SYNC_WAIT_MS: '20000' } })
}, 60_000)
afterAll(() => app.stop())
afterEach(async () => {
  await Promise.all([chat.close(), sms.close()])
})

/** An account whose codes are routed to the chat app first, with its default template there. */
async function start(): Promise<string> {
  account = await app.createAccount({ balance: 1 })
  templates = createTemplateCalls(app, account)
  chat = await startChatGateway(app, { account, priorityOrder: 10 })
  sms = await startSmsGateway(app, { account, priorityOrder: 20 })
  chat.act(approved)
  const { id } = await templates.made({
    name: 'login_code',
    category: 'chatapp',
    subType: 'otp',
    language: 'en_US',
    officialSenderId: chat.connectionId,
    otp: { addSecurityRecommendation: false, copyCodeButtonText: 'Copy' },
  })
  expect((await templates.call('POST', `/${id}/default`)).status).toBe(200)
  chat.act(nth => whatsAppCloudFixture.taken(nth))
  return id
}

/** The test clock stands still: nothing here waits. */
const send = (more: object = {}) =>
  account.send({ to: TO, content: { otpCode: CODE }, ...more }, { live: true })

const sentBy = ({ peer }: Gateway) => peer.requests.filter(request => !request.path.includes('template'))
const textBy = (gateway: Gateway) =>
  sentBy(gateway).map(({ body }) => (JSON.parse(body) as { text: string }).text)

describe('a one-time code with the account’s default chat template', () => {
  test('is sent over the chat app when it accepts the message', async () => {
    const id = await start()
    const sent = await send()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent', resolved: { channel: 'official_chatapp' } })
    expect(await account.message(messageIdOf(sent))).toMatchObject({ templateId: id })
    expect(sentBy(sms)).toHaveLength(0)
  })

  test('fails over to SMS with the built-in text when the chat app rejects it', async () => {
    await start()
    chat.act(NOT_ON_THE_APP)
    const sent = await send()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent', resolved: { channel: 'local_sms' } })
    expect(textBy(sms)).toEqual([`Your verification code is ${CODE}`])
    const message = await account.message(messageIdOf(sent))
    expect(message).toMatchObject({ channel: 'local_sms', templateId: null, billing: { parts: 1 } })
    expect(JSON.stringify(message)).not.toContain(CODE)
    expect(await stored()).not.toContain(CODE)
  })

  test('fails over to SMS with the default SMS template, where there is one', async () => {
    await start()
    const { id } = await templates.made({
      name: 'sms_code',
      category: 'sms',
      subType: 'otp',
      content: 'ACME: {{1}} is your code.',
    })
    expect((await templates.call('POST', `/${id}/default`)).status).toBe(200)
    chat.act(NOT_ON_THE_APP)
    const sent = await send()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent', resolved: { channel: 'local_sms' } })
    expect(textBy(sms)).toEqual([`ACME: ${CODE} is your code.`])
    expect(await account.message(messageIdOf(sent))).toMatchObject({ templateId: id })
  })

  test('keeps the SMS text when the SMS is retried from the outbox', async () => {
    await start()
    chat.act(NOT_ON_THE_APP)
    sms.act(nth =>
      nth === 1 ? { status: 429, body: '{"error":"slower"}' } : { status: 200, body: '{"id":"1"}' },
    )
    const id = messageIdOf(await app.during(send()))
    await app.until(
      () => account.message(id),
      ({ status }) => status === 'sent',
    )
    expect(textBy(sms)).toEqual(Array(2).fill(`Your verification code is ${CODE}`))
  })
})

test('a message with a template named by the request does not fail over to another channel', async () => {
  const id = await start()
  chat.act(NOT_ON_THE_APP)
  const sent = await send({ template: { id } })
  expect([sent.status, sent.body['code']], sent.text).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
  expect(sentBy(sms)).toHaveLength(0)
})

/** The database row of the newest message, as text. */
async function stored(): Promise<string> {
  const { rows } = await app.db.query<{ row: string }>({
    name: 'message_as_text',
    text: 'select m::text as row from messages m order by id desc limit 1',
  })
  return rows[0]!.row
}

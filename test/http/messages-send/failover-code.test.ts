import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Gateway, startChatGateway, startSmsGateway } from '../../support/gateways.ts'
import type { PeerAct } from '../../support/http-peer.ts'
import { createTemplateCalls } from '../templates/support.ts'

/** A one-time code that the chat app does not take: what the SMS says instead. */

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

/** An account whose codes go by the app first, in the words of its default template there. */
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

/** Time stands still: nothing here waits for it. */
const send = (more: object = {}) =>
  account.send({ to: TO, content: { otpCode: CODE }, ...more }, { live: true })

const sentBy = ({ peer }: Gateway) => peer.requests.filter(request => !request.path.includes('template'))
const textBy = (gateway: Gateway) =>
  sentBy(gateway).map(({ body }) => (JSON.parse(body) as { text: string }).text)

describe('a code in the account’s default template', () => {
  test('goes by the app where the app takes it', async () => {
    const id = await start()
    const sent = await send()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent', resolved: { channel: 'official_chatapp' } })
    expect(await account.message(messageIdOf(sent))).toMatchObject({ templateId: id })
    expect(sentBy(sms)).toHaveLength(0)
  })

  test('is said by SMS in words of our own where the app does not', async () => {
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

  test('or in those of the default template for SMS', async () => {
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

  test('is said anew from the outbox too, when the SMS has to be tried again', async () => {
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

test('a template that the send names stays on its channel', async () => {
  const id = await start()
  chat.act(NOT_ON_THE_APP)
  const sent = await send({ template: { id } })
  expect([sent.status, sent.body['code']], sent.text).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
  expect(sentBy(sms)).toHaveLength(0)
})

/** The newest message as its row has it. */
async function stored(): Promise<string> {
  const { rows } = await app.db.query<{ row: string }>({
    name: 'message_as_text',
    text: 'select m::text as row from messages m order by id desc limit 1',
  })
  return rows[0]!.row
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { invalidAt } from './refusal.ts'

/** A conversationContext: the recipients and senders it allows, and what is stored of it. */

const PHONE = '+12025550100'
const GROUP = '120363020000000100@g.us'
const BOT = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
const WEB = { moduleType: 'chatapp_web', accountId: 'main', chatId: PHONE }
const OFFICIAL = { moduleType: 'chatapp_official', accountId: 'platform', chatId: PHONE }

let app: TestApp
let account: TestAccount
/** The account's own official sender, another account's, and one of its own that is disabled. */
let own: string
let foreign: string
let disabled: string

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  own = await connect(account)
  foreign = await connect(await app.createAccount())
  disabled = await connect(account, { enabled: false })
}, 60_000)
afterAll(() => app.stop())

async function connect({ id: accountId }: TestAccount, more: object = {}): Promise<string> {
  const answer = await app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Support',
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor('http://127.0.0.1:9'),
    accountId,
    ...more,
  })
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { connection: { id: string } }).connection.id
}

async function sent(body: object) {
  const answer = await account.send({ text: 'Hello', ...body })
  expect(answer.status, answer.text).toBe(200)
  return { ...answer.body, id: messageIdOf(answer) } as { id: string; resolved: Record<string, string> }
}

const invalid = (body: object, path: string) => invalidAt(account, { text: 'Hello', ...body }, path)

describe('the stored conversationContext', () => {
  test.each([
    ['a web session', PHONE, WEB, `chatapp_web:main:${PHONE}`],
    ['a group', GROUP, { ...WEB, chatId: GROUP }, `chatapp_web:main:${GROUP}`],
    ['an official sender', PHONE, OFFICIAL, `chatapp_official:platform:${PHONE}`],
    ['a bot', BOT.chatId, BOT, 'botapp_bot:bot_1:7000000100'],
  ])(
    'of %s has every field, and a conversationKey derived from them',
    async (_, to, context, conversationKey) => {
      const { id } = await sent({ to, conversationContext: context })
      const kept = { ...context, contactId: null, conversationKey }
      expect((await account.message(id)).conversationContext).toEqual(kept)
      expect((await account.messages('?limit=1'))[0]!.conversationContext).toEqual(kept)
    },
  )

  test('has the conversationKey and contactId of the request', async () => {
    const context = { ...BOT, contactId: 'crm-17', conversationKey: 'ticket/4711' }
    const { id } = await sent({ to: BOT.chatId, conversationContext: context })
    expect((await account.message(id)).conversationContext).toEqual(context)
  })

  test('has a null contactId and a derived conversationKey when they are null in the request', async () => {
    const context = { ...BOT, contactId: null, conversationKey: null }
    const { id } = await sent({ to: BOT.chatId, conversationContext: context })
    expect((await account.message(id)).conversationContext).toEqual({
      ...BOT,
      contactId: null,
      conversationKey: 'botapp_bot:bot_1:7000000100',
    })
  })
})

describe('the chatId of a conversationContext', () => {
  test.each([
    ['without the plus sign', { ...WEB, chatId: '12025550100' }],
    ['by the chat app’s id', { ...WEB, chatId: '12025550100@s.whatsapp.net' }],
    ['by a LID, which contains no number', { ...WEB, chatId: '99887766554433@lid' }],
    ['with spaces and brackets for an official sender', { ...OFFICIAL, chatId: '+1 (202) 555-0100' }],
  ])('may name the recipient %s', async (_, conversationContext) => {
    await sent({ to: PHONE, conversationContext })
  })

  test('may name the recipient by the other form of a mobile that is written in two', async () => {
    const context = { ...WEB, chatId: '553187654321@s.whatsapp.net' }
    const { id } = await sent({ to: '+5531987654321', conversationContext: context })
    const { to, conversationContext } = await account.message(id)
    expect(to).toBe('+5531987654321')
    expect(conversationContext).toMatchObject({ conversationKey: 'chatapp_web:main:+5531987654321' })
  })

  test('that is a LID is itself the recipient', async () => {
    const chatId = '99887766554433@lid'
    const { id, resolved } = await sent({ to: chatId, conversationContext: { ...WEB, chatId } })
    expect(resolved).toMatchObject({ channel: 'user_chatapp_session' })
    expect((await account.message(id)).conversationContext).toMatchObject({
      conversationKey: `chatapp_web:main:${chatId}`,
    })
    await invalid({ to: chatId, channel: 'official_chatapp' }, 'to')
    await invalid({ to: '1@lid', channel: 'user_chatapp_session' }, 'to')
  })

  test.each([
    ['another person', PHONE, { ...WEB, chatId: '+12025550101' }],
    ['another person for an official sender', PHONE, { ...OFFICIAL, chatId: '+12025550101' }],
    ['a LID for an official sender', PHONE, { ...OFFICIAL, chatId: '1234567@lid' }],
    ['a group in a message to a person', PHONE, { ...WEB, chatId: GROUP }],
    ['a person in a message to a group', GROUP, WEB],
    ['another group', GROUP, { ...WEB, chatId: '120363020000000101@g.us' }],
    ['another chat of a bot', '7000000101', BOT],
    ['the chat of a bot with a plus sign', '7000000100', { ...BOT, chatId: '+7000000100' }],
    ['no valid chat', PHONE, { ...WEB, chatId: 'main' }],
  ])('is rejected when it names %s', async (_, to, conversationContext) => {
    await invalid({ to, conversationContext }, 'conversationContext.chatId')
  })

  test('must match every recipient of a batch', async () => {
    const answer = await account.send({
      to: [PHONE, '+12025550101'],
      text: 'Hello',
      conversationContext: WEB,
    })
    expect([answer.status, answer.body['summary']]).toMatchObject([207, { failed: 1 }])
  })
})

describe('the official sender of a conversationContext', () => {
  const context = (accountId: string) => ({ conversationContext: { ...OFFICIAL, accountId } })

  test('is used as if the request had named it', async () => {
    for (const accountId of [own, 'platform']) {
      const { resolved } = await sent({ to: PHONE, ...context(accountId) })
      expect(resolved).toMatchObject({ channel: 'official_chatapp', senderSource: 'request' })
    }
  })

  test('may be named by officialSenderId too when it is the same', async () => {
    await sent({ to: PHONE, ...context(own), officialSenderId: own })
    await sent({ to: PHONE, ...context(own), sender: { officialId: own } })
    // The conversation of another module does not restrict it.
    await sent({ to: PHONE, conversationContext: WEB, officialSenderId: own })
  })

  test('is rejected when officialSenderId names another one', async () => {
    for (const named of [{ officialSenderId: 'platform' }, { sender: { officialId: 'platform' } }]) {
      await invalid({ to: PHONE, ...context(own), ...named }, 'conversationContext.accountId')
    }
    await invalid(
      { to: PHONE, ...context('platform'), officialSenderId: own },
      'conversationContext.accountId',
    )
  })

  test('is rejected when the account may not use it', async () => {
    for (const id of [foreign, disabled, 'main', 'cnn_00000000000000000000000001']) {
      await invalid({ to: PHONE, ...context(id) }, 'conversationContext.accountId')
    }
  })
})

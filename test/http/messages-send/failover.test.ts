import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/channels/provider.ts'
import type { LedgerEntry } from '../../../src/contract/wallet.ts'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import {
  type AccountOptions,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import {
  type Gateway,
  type GatewayOptions,
  noSuchNumber,
  notNow,
  slowDown,
  startChatGateway,
  startSmsGateway,
  taken,
} from '../../support/gateways.ts'

const TO = '+12025550123'
const SMS_PRICE = 0.01
const CHAT_PRICE = 0.05
const NOT_ON_THE_APP = graphError(400, 131026)
const NOT_ON_A_LIST = graphError(400, 131030)

let app: TestApp
let account: TestAccount
const open: Gateway[] = []

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_SYNC_WAIT_MS: '20000' } })
  const row = (channel: string, price: number) => ({ channel, country: '*', price, currency: 'USD' })
  const prices = [row('local_sms', SMS_PRICE), row('int_sms', SMS_PRICE), row('official_chatapp', CHAT_PRICE)]
  expect((await app.admin('PUT', '/prices', { prices })).status).toBe(200)
}, 60_000)
afterAll(() => app.stop())
afterEach(async () => {
  await Promise.all(open.splice(0).map(gateway => gateway.close()))
})

async function createAccount(options: AccountOptions = {}): Promise<void> {
  account = await app.createAccount({ balance: 1, ...options })
}
async function sms(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await startSmsGateway(app, { account, ...options })
  open.push(gateway)
  return gateway
}
async function chat(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await startChatGateway(app, { account, ...options })
  gateway.act(nth => whatsAppCloudFixture.taken(nth))
  open.push(gateway)
  return gateway
}

/** The test clock stands still, so a response proves that nothing was waited for. */
const send = (more: object = {}, idempotencyKey?: string) =>
  account.send({ to: TO, text: 'Hello', ...more }, { live: true, ...(idempotencyKey && { idempotencyKey }) })

/** Lets the test clock run, for sends that are retried after a backoff. */
const sendInTime = (more: object = {}, idempotencyKey?: string) => app.during(send(more, idempotencyKey))

/** Balance, held and captured. Checks that they add up to the amount credited. */
async function money(): Promise<number[]> {
  const { balance, held, captured, credited } = await account.wallet()
  expect(balance + held + captured).toBeCloseTo(credited, 6)
  await expectLedger(balance, held, captured)
  return [balance, held, captured]
}

/** The ledger's entries sum to the wallet. */
async function expectLedger(balance: number, held: number, captured: number): Promise<void> {
  const entries = await account.read<LedgerEntry[]>('/api/v2/wallet/ledger?limit=500')
  const sum = (type: string) =>
    entries.filter(entry => entry.type === type).reduce((total, entry) => total + entry.amount, 0)
  expect(balance).toBeCloseTo(sum('credit') - sum('hold') + sum('release'), 6)
  expect(held).toBeCloseTo(sum('hold') - sum('capture') - sum('release'), 6)
  expect(captured).toBeCloseTo(sum('capture'), 6)
}

async function attempts(id: string) {
  const { timeline } = await account.message(id)
  return timeline
    .filter(entry => entry.event === 'attempt')
    .map(({ attempt, outcome, provider, connectionId }) => ({ attempt, outcome, provider, connectionId }))
}

async function lastMessage() {
  return (await account.messages())[0]!
}

describe('failover to another connection of the same channel', () => {
  test.each<[string, Parameters<Gateway['act']>[0], Outcome['kind'], number]>([
    ['rejects the message', noSuchNumber, 'rejected', 1],
    ['fails retryably until its attempts are used up', notNow, 'retry', 2],
  ])('happens when the first connection %s', async (_, act, outcome, tries) => {
    await createAccount()
    const [first, second] = [await sms(), await sms()]
    first.act(act)
    const sent = await sendInTime()
    expect(sent.status, sent.text).toBe(200)
    expect(sent.body).toMatchObject({
      status: 'sent',
      resolved: { channel: 'local_sms', provider: 'http-sms' },
    })
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([tries, 1])
    const made = Array.from({ length: tries }, (_, at) => ({
      attempt: at + 1,
      outcome,
      provider: 'http-sms',
      connectionId: first.connectionId,
    }))
    expect(await attempts(messageIdOf(sent))).toEqual([
      ...made,
      { attempt: tries + 1, outcome: 'accepted', provider: 'http-sms', connectionId: second.connectionId },
    ])
    expect(await account.message(messageIdOf(sent))).toMatchObject({
      connectionId: second.connectionId,
      errorCode: null,
      errorMessage: null,
    })
    expect(await money()).toEqual([0.99, 0, 0.01])
  })

  test('happens when the first connection’s server is down', async () => {
    await createAccount()
    const [first, second] = [await sms(), await sms()]
    await first.close()
    open.splice(open.indexOf(first), 1)
    const sent = await sendInTime()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent' })
    expect(second.peer.requests).toHaveLength(1)
    expect(await money()).toEqual([0.99, 0, 0.01])
  })

  test('says that the platform’s number sent it, when it fails over to that from the account’s own', async () => {
    await createAccount()
    const own = await chat()
    own.act(() => NOT_ON_A_LIST)
    const shared = await startChatGateway(app)
    open.push(shared)
    shared.act(nth => whatsAppCloudFixture.taken(nth))
    const sent = await sendInTime({ channel: 'official_chatapp' })
    expect(sent.body, sent.text).toMatchObject({ status: 'sent', resolved: { senderSource: 'platform' } })
    expect(await account.message(messageIdOf(sent))).toMatchObject({
      connectionId: shared.connectionId,
      senderSource: 'platform',
    })
    expect((await app.admin('DELETE', `/connections/${shared.connectionId}`)).status).toBe(200)
  })

  test('uses the retry policy of each connection in turn', async () => {
    await createAccount()
    const [first, second] = [await sms(), await sms({ retryPolicy: { maxAttempts: 3, backoffMs: 10 } })]
    first.act(notNow)
    second.act(notNow)
    const sent = await sendInTime()
    expect([sent.status, sent.body['code']]).toEqual([503, 'PROVIDER_UNAVAILABLE'])
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([2, 3])
    expect(await lastMessage()).toMatchObject({ status: 'failed', attempts: 5 })
    expect(await money()).toEqual([1, 0, 0])
  })

  test('happens at once if the first connection asks for more than a minute, and another one is ready', async () => {
    await createAccount()
    const [first, second] = [await sms({ retryPolicy: { maxAttempts: 8, backoffMs: 10 } }), await sms()]
    first.act({ status: 503, headers: { 'Retry-After': '61' } })
    expect((await sendInTime()).body).toMatchObject({ status: 'sent' })
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([1, 1])
  })

  test('happens after the third retryable failure, even if the retry policy allows more attempts', async () => {
    await createAccount()
    const [first, second] = [await sms({ retryPolicy: { maxAttempts: 8, backoffMs: 10 } }), await sms()]
    first.act(notNow)
    expect((await sendInTime()).body).toMatchObject({ status: 'sent' })
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([3, 1])
    expect(await money()).toEqual([0.99, 0, 0.01])
  })

  test('responds with the last connection’s rejection, which is stored and replayed', async () => {
    await createAccount()
    const [first, second] = [await sms(), await sms()]
    first.act(notNow)
    second.act(noSuchNumber)
    const sent = await sendInTime({}, 'all refuse')
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    const again = await sendInTime({}, 'all refuse')
    expect(again.text).toBe(sent.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([2, 1])
    expect(await money()).toEqual([1, 0, 0])
  })
})

describe('no failover happens', () => {
  test.each<[string, Parameters<Gateway['act']>[0]]>([
    ['the connection is reset, so that the outcome is unknown', 'reset'],
    ['the response is a 500 that is not in the format of the provider', { status: 500, body: 'oops' }],
  ])('when %s', async (_, act) => {
    await createAccount()
    const [first, second] = [await sms(), await sms()]
    first.act(act)
    const sent = await send()
    expect(sent.body, sent.text).toMatchObject({ status: 'queued' })
    expect(await account.message(messageIdOf(sent))).toMatchObject({
      status: 'unknown',
      connectionId: first.connectionId,
    })
    expect(second.peer.requests).toHaveLength(0)
    expect(await money()).toEqual([0.99, 0.01, 0])
  })

  test('when the provider throttles', async () => {
    await createAccount()
    const [first, second] = [await sms(), await sms()]
    first.act(nth => (nth === 1 ? slowDown : taken(nth)))
    const id = messageIdOf(await sendInTime())
    await app.until(
      () => account.message(id),
      message => message.status === 'sent',
    )
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual([2, 0])
  })

  test('to a connection that is disabled or does not allow the message type', async () => {
    await createAccount()
    const first = await sms()
    const closed = await sms()
    await app.admin('PATCH', `/connections/${closed.connectionId}`, { enabled: false })
    const choosy = await sms({ allowedTypes: ['otp'] })
    first.act(noSuchNumber)
    const sent = await send()
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect([closed.peer.requests.length, choosy.peer.requests.length]).toEqual([0, 0])
  })

  test('to another channel when the request names its channel', async () => {
    await createAccount()
    const [first, other] = [await sms(), await chat()]
    first.act(noSuchNumber)
    const sent = await send({ channel: 'local_sms' })
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(other.peer.requests).toHaveLength(0)
    expect(await money()).toEqual([1, 0, 0])
  })

  test('from a real provider to the sandbox', async () => {
    await createAccount()
    const first = await sms()
    first.act(noSuchNumber)
    const sent = await send()
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(await account.inbox()).toEqual([])
  })
})

describe('failover to the next channel, when the request names none', () => {
  test('prices the message anew, and responds with the channel that accepted it', async () => {
    await createAccount()
    const [chatApp, text] = [await chat({ priorityOrder: 10 }), await sms({ priorityOrder: 20 })]
    chatApp.act(NOT_ON_THE_APP)
    const sent = await send({ text: 'x'.repeat(200) }, 'moved')
    expect(sent.status, sent.text).toBe(200)
    expect(sent.body).toMatchObject({
      status: 'sent',
      resolved: {
        channel: 'local_sms',
        provider: 'http-sms',
        senderSource: 'platform',
        channels: ['official_chatapp', 'local_sms'],
      },
      billing: { estimatedCost: 0.02, currency: 'USD', parts: 2 },
    })
    expect([chatApp.peer.requests.length, text.peer.requests.length]).toEqual([1, 1])
    expect(JSON.parse(text.peer.requests[0]!.body)).toMatchObject({ to: TO, from: 'Posthorn' })
    expect(await account.message(messageIdOf(sent))).toMatchObject({
      channel: 'local_sms',
      sender: 'Posthorn',
      billing: { cost: 0.02, parts: 2, state: 'captured' },
    })
    expect(await money()).toEqual([0.98, 0, 0.02])
    const types = (await account.read<LedgerEntry[]>('/api/v2/wallet/ledger')).map(({ type, amount }) => [
      type,
      amount,
    ])
    expect(types).toEqual([
      ['capture', 0.02],
      ['hold', 0.02],
      ['release', CHAT_PRICE],
      ['hold', CHAT_PRICE],
      ['credit', 1],
    ])
    const again = await send({ text: 'x'.repeat(200) }, 'moved')
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([sent.text, 'true'])
  })

  test('skips other connections of a chat app on which the recipient is not registered', async () => {
    await createAccount()
    const [one, two, text] = [await chat({ priorityOrder: 1 }), await chat({ priorityOrder: 2 }), await sms()]
    one.act(NOT_ON_THE_APP)
    expect((await send()).body).toMatchObject({ status: 'sent', resolved: { channel: 'local_sms' } })
    expect([two.peer.requests.length, text.peer.requests.length]).toEqual([0, 1])
  })

  test('keeps the sender that the request named', async () => {
    await createAccount()
    const made = await app.call('/api/v2/sms-senders', {
      method: 'POST',
      key: account.liveKey,
      body: { name: 'ACME' },
    })
    const { id } = (made.body['data'] as { smsSender: { id: string } }).smsSender
    expect((await app.admin('POST', `/sms-senders/${id}/approve`)).status).toBe(200)
    const [chatApp, text] = [await chat({ priorityOrder: 10 }), await sms()]
    chatApp.act(NOT_ON_THE_APP)
    const sent = await send({ sender: { id } })
    expect(sent.body).toMatchObject({ resolved: { channel: 'local_sms', senderSource: 'request' } })
    expect(JSON.parse(text.peer.requests[0]!.body)).toMatchObject({ from: 'ACME' })
  })

  test('does not happen when the text is too long for the next channel', async () => {
    await createAccount()
    const [chatApp, text] = [await chat({ priorityOrder: 10 }), await sms()]
    chatApp.act(NOT_ON_THE_APP)
    const sent = await send({ text: 'x'.repeat(2_000) })
    expect([sent.status, sent.body['code']]).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
    expect(text.peer.requests).toHaveLength(0)
    expect(await money()).toEqual([1, 0, 0])
  })

  test('does not happen when the next price is not covered: the first rejection stands, the hold is released', async () => {
    await createAccount({ balance: 0.02 })
    const [text, chatApp] = [await sms({ priorityOrder: 10 }), await chat({ priorityOrder: 20 })]
    text.act(noSuchNumber)
    const sent = await send()
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(chatApp.peer.requests).toHaveLength(0)
    expect(await lastMessage()).toMatchObject({
      status: 'failed',
      channel: 'local_sms',
      billing: { state: 'released' },
    })
    expect(await money()).toEqual([0.02, 0, 0])
  })

  test('counts against the new channel’s pool, and gives the message back to the first pool', async () => {
    await createAccount({
      balance: 0,
      plan: {
        pool: [
          { channels: ['official_chatapp'], limit: 5 },
          { channels: ['local_sms'], limit: 5 },
        ],
      },
    })
    const [chatApp, text] = [await chat({ priorityOrder: 10 }), await sms()]
    chatApp.act(NOT_ON_THE_APP)
    expect((await send()).body).toMatchObject({ status: 'sent', resolved: { channel: 'local_sms' } })
    const { plan } = await account.read<{ plan: { pool: { channels: string[]; used: number }[] } }>(
      '/api/v2/account',
    )
    expect(plan.pool.map(pool => pool.used)).toEqual([0, 1])
    text.act(noSuchNumber)
    chatApp.act(NOT_ON_THE_APP)
    expect((await sendInTime({ to: '+12025550124' })).status).toBe(400)
    expect((await account.footprint()).poolUsed).toBe(1)
    expect(await money()).toEqual([0, 0, 0])
  })
})

describe('the response stored for replay stays the same', () => {
  test('when the message fails over after the response', async () => {
    await createAccount()
    const [chatApp, text] = [
      await chat({ priorityOrder: 10, retryPolicy: { maxAttempts: 2, backoffMs: 60_000 } }),
      await sms(),
    ]
    chatApp.act(nth => (nth === 1 ? graphError(503, 131016) : NOT_ON_THE_APP))
    const sent = await sendInTime({}, 'told before')
    expect(sent.body).toMatchObject({
      status: 'queued',
      resolved: { channel: 'official_chatapp', provider: 'whatsapp-cloud' },
      billing: { estimatedCost: CHAT_PRICE },
    })
    expect(await money()).toEqual([0.95, CHAT_PRICE, 0])
    const id = messageIdOf(sent)
    await app.leap(45_000)
    await app.until(
      () => account.message(id),
      message => message.status === 'sent',
    )
    expect(text.peer.requests).toHaveLength(1)
    expect(await account.message(id)).toMatchObject({ channel: 'local_sms', provider: 'http-sms' })
    expect(await attempts(id)).toEqual([
      { attempt: 1, outcome: 'retry', provider: 'whatsapp-cloud', connectionId: chatApp.connectionId },
      { attempt: 2, outcome: 'rejected', provider: 'whatsapp-cloud', connectionId: chatApp.connectionId },
      { attempt: 3, outcome: 'accepted', provider: 'http-sms', connectionId: text.connectionId },
    ])
    const again = await send({}, 'told before')
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([sent.text, 'true'])
    expect(await money()).toEqual([0.99, 0, SMS_PRICE])
  })

  test('when a scheduled message fails over', async () => {
    await createAccount()
    const [chatApp] = [await chat({ priorityOrder: 10 }), await sms()]
    chatApp.act(NOT_ON_THE_APP)
    // The time by the app's clock, which is ahead of the machine's.
    const { timeline } = await account.message(messageIdOf(await account.send({ to: TO, text: 'x' })))
    const scheduleAt = new Date(Date.parse(timeline[0]!.at) + 60_000).toISOString()
    const sent = await send({ options: { scheduleAt } }, 'later')
    expect(sent.body).toMatchObject({ status: 'scheduled', resolved: { channel: 'official_chatapp' } })
    await app.leap(50_000)
    await app.until(
      () => account.message(messageIdOf(sent)),
      message => message.status === 'sent',
    )
    expect(await account.message(messageIdOf(sent))).toMatchObject({ channel: 'local_sms' })
    expect((await send({ options: { scheduleAt } }, 'later')).text).toBe(sent.text)
  })
})

describe('a test key', () => {
  test('never fails over from the sandbox to another provider', async () => {
    await createAccount()
    const [text, chatApp] = [await sms(), await chat()]
    const sent = await account.send({ to: '+12025550002', text: 'Hello' })
    expect([sent.status, sent.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect([text.peer.requests.length, chatApp.peer.requests.length]).toEqual([0, 0])
    const { timeline } = await account.message((await lastMessage()).messageId)
    expect(timeline.filter(entry => entry.event === 'attempt').map(entry => entry.provider)).toEqual([
      'sandbox',
      'sandbox',
    ])
  })
})

describe('a recipient whom the provider reports as not registered before the send', () => {
  const NOBODY_THERE = '+12025550001'

  test('is sent to over the next channel, and an estimate resolves the same channel', async () => {
    const only = await startTestApp()
    try {
      const sandbox = (await only.admin('GET', '/connections')).body['data'] as {
        id: string
        channels: string[]
      }[]
      const channels = sandbox[0]!.channels.filter(channel => channel !== 'official_chatapp')
      await only.admin('PATCH', `/connections/${sandbox[0]!.id}`, { channels })
      await only.admin('POST', '/connections', {
        provider: 'sandbox',
        name: 'chat first',
        channels: ['official_chatapp'],
        priorityOrder: 1,
      })
      const other = await only.createAccount()
      const estimated = await only.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: other.liveKey,
        body: { to: NOBODY_THERE, text: 'Hello' },
      })
      const sent = await only.during(other.send({ to: NOBODY_THERE, text: 'Hello' }, { live: true }))
      expect(sent.body).toMatchObject({
        status: 'sent',
        resolved: { channel: 'local_sms', channels: ['local_sms'] },
      })
      expect((estimated.body['data'] as { resolved: unknown }).resolved).toEqual(sent.body['resolved'])
      const reachable = await only.during(other.send({ to: TO, text: 'Hello' }, { live: true }))
      expect(reachable.body).toMatchObject({ resolved: { channel: 'official_chatapp' } })
      const asked = await other.send(
        { to: NOBODY_THERE, text: 'Hello', channel: 'official_chatapp' },
        { live: true },
      )
      expect([asked.status, asked.body['code']]).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
    } finally {
      await only.stop()
    }
  })
})

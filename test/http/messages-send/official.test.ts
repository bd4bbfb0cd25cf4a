import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/lib/ids.ts'
import {
  event,
  failed,
  messagesChange,
  signatureOf,
  status,
  wrote,
} from '../../channels/whatsapp-cloud/calls.ts'
import { graphError, whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import { type Gateway, startChatGateway } from '../../support/gateways.ts'
import type { PeerAct } from '../../support/http-peer.ts'

const DAY_MS = 24 * 3_600_000
/** The sender of the inbound messages in WhatsApp's own examples. */
const ADA = '+16505551234'
const PRICE = 0.05

let app: TestApp
let account: TestAccount
let first: Gateway
let second: Gateway
let platform: Gateway | null = null

beforeAll(async () => {
  app = await startTestApp()
  const prices = [
    { channel: 'official_chatapp', country: '*', price: PRICE, currency: 'USD' },
    { channel: 'int_sms', country: '*', price: PRICE, currency: 'USD' },
    { channel: 'local_sms', country: '*', price: PRICE, currency: 'USD' },
  ]
  expect((await app.admin('PUT', '/prices', { prices })).status).toBe(200)
  account = await app.createAccount({ balance: 10 })
  first = await gateway({ account, priorityOrder: 10 })
  second = await gateway({ account, priorityOrder: 20 })
}, 60_000)
afterAll(async () => {
  await app.stop()
  for (const each of [first, second, platform]) await each?.close()
})

async function gateway(options: object = {}): Promise<Gateway> {
  const opened = await startChatGateway(app, { sendModeByType: {}, ...options } as never)
  let sends = 0
  opened.act(() => whatsAppCloudFixture.taken(++sends + Number.parseInt(opened.connectionId.slice(-3), 36)))
  return opened
}

const send = (more: object = {}, live = true) =>
  app.during(account.send({ to: ADA, channel: 'official_chatapp', text: 'Hello', ...more }, { live }))

/** Posts a WhatsApp webhook for a connection, signed with the app's secret. */
function postWebhook(to: Gateway, payload: unknown, signature?: string): Promise<Answer> {
  const body = JSON.stringify(payload)
  return app.during(
    app.call(`/webhooks/whatsapp-cloud/${to.connectionId}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': signature ?? signatureOf(body),
      },
      body,
    }),
  )
}

let written = 0
async function adaWrites(to: Gateway): Promise<void> {
  const message = wrote({ type: 'text', text: { body: 'Hello there' } })
  const timestamp = String(Math.floor(app.now() / 1_000))
  const payload = event(messagesChange({ messages: [{ ...message, id: `wamid.${++written}`, timestamp }] }))
  expect((await postWebhook(to, payload)).status).toBe(200)
}

describe('free text over an official sender', () => {
  test('is rejected with 400 when the recipient has not written, and nothing is stored', async () => {
    const before = await account.footprint()
    const answer = await send()
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(answer.body['error']).toContain(
      'free text is only allowed within 24 hours of a message from the recipient',
    )
    expect(faultPaths(answer)).toEqual(['template'])
    expect(await account.footprint()).toEqual(before)
    expect(first.peer.requests).toEqual([])
  })

  test('is reported as not deliverable by an estimate too', async () => {
    const answer = await app.during(
      app.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: account.liveKey,
        body: { to: ADA, channel: 'official_chatapp', text: 'Hello' },
      }),
    )
    expect(answer.body['data']).toMatchObject({
      deliverable: false,
      reasons: [{ code: 'VALIDATION_ERROR', path: 'template' }],
    })
  })

  test('with a test key is sent to the sandbox at any time', async () => {
    expect((await send({}, false)).body).toMatchObject({ status: 'sent', resolved: { provider: 'sandbox' } })
  })

  test('is accepted from the sender that the recipient wrote to, for 24 hours after that message', async () => {
    await adaWrites(first)
    expect((await send()).body).toMatchObject({
      status: 'sent',
      resolved: { provider: 'whatsapp-cloud', senderSource: 'official_default' },
    })
    expect((await send({ officialSenderId: second.connectionId })).status).toBe(400)
    const soon = new Date(app.now() + DAY_MS - 60_000).toISOString()
    expect((await send({ options: { scheduleAt: soon } })).body).toMatchObject({ status: 'scheduled' })
    const late = new Date(app.now() + DAY_MS + 60_000).toISOString()
    expect((await send({ options: { scheduleAt: late } })).status).toBe(400)
    await app.leap(DAY_MS)
    expect((await send()).status).toBe(400)
  })

  test('may caption an attachment, sent by URL or uploaded to the provider', async () => {
    await adaWrites(first)
    const publicUrl = 'https://cdn.example.org/ship.png'
    const linked = await send({ attachment: { type: 'image', publicUrl } })
    expect(linked.body, linked.text).toMatchObject({ status: 'sent' })
    expect(JSON.parse(first.peer.requests.at(-1)!.body)).toMatchObject({
      type: 'image',
      image: { link: publicUrl, caption: 'Hello' },
    })
    first.act(() => ({ status: 200, body: '{"id":"116","messages":[{"id":"wamid.uploaded"}]}' }))
    const base64 = Buffer.from('not really a picture').toString('base64')
    const uploaded = await send({ attachment: { type: 'image', base64, mimetype: 'image/png' } })
    expect(uploaded.body, uploaded.text).toMatchObject({ status: 'sent' })
    expect(JSON.parse(first.peer.requests.at(-1)!.body)).toMatchObject({
      image: { id: '116', caption: 'Hello' },
    })
    expect(first.peer.requests.at(-2)!.path).toMatch(/\/media$/)
    let sends = 80_000
    first.act(() => whatsAppCloudFixture.taken(++sends))
  })

  test('goes over another channel when the request names none', async () => {
    const open = await app.createAccount({ balance: 10 })
    const theirs = await gateway({ account: open, priorityOrder: 1 })
    const answer = await app.during(open.send({ to: ADA, text: 'Hello' }, { live: true }))
    expect(answer.body).toMatchObject({ resolved: { channel: expect.stringContaining('sms') } })
    expect(theirs.peer.requests).toEqual([])
    await theirs.close()
  })
})

describe('free text that its connection could not deliver', () => {
  test('fails over to another official sender only when the recipient wrote to that one too', async () => {
    const busy = await app.createAccount({ balance: 10 })
    const one = await gateway({
      account: busy,
      priorityOrder: 1,
      retryPolicy: { maxAttempts: 1, backoffMs: 100 },
    })
    const two = await gateway({ account: busy, priorityOrder: 2 })
    const text = () =>
      app.during(busy.send({ to: ADA, channel: 'official_chatapp', text: 'Hello' }, { live: true }))
    one.act(graphError(400, 131_045) as PeerAct)
    await adaWrites(one)
    expect((await text()).status).toBeGreaterThanOrEqual(400)
    expect(one.peer.requests).toHaveLength(1)
    expect(two.peer.requests).toEqual([])
    await adaWrites(two)
    expect((await text()).body).toMatchObject({ status: 'sent' })
    expect(two.peer.requests).toHaveLength(1)
    for (const each of [one, two]) await each.close()
  })
})

describe('the official sender', () => {
  const sourceOf = (answer: Answer) => (answer.body['resolved'] as { senderSource: string }).senderSource

  test.each([
    ['officialSenderId', (id: string) => ({ officialSenderId: id })],
    ['sender.officialId', (id: string) => ({ sender: { officialId: id } })],
  ])('is chosen by %s, which is the faulty field when it is unknown', async (path, body) => {
    await adaWrites(second)
    const before = second.peer.requests.length
    const answer = await send(body(second.connectionId))
    expect(answer.status, answer.text).toBe(200)
    expect(sourceOf(answer)).toBe('request')
    expect(second.peer.requests).toHaveLength(before + 1)

    const other = await app.createAccount()
    const foreign = await gateway({ account: other })
    for (const unknown of [foreign.connectionId, 'cnn_00000000000000000000000000', 'nobody']) {
      for (const live of [true, false]) {
        const refused = await send(body(unknown), live)
        expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
        expect(faultPaths(refused)).toEqual([path])
      }
    }
    await foreign.close()
  })

  test('is the account’s default when the request names none, else the account’s first', async () => {
    await adaWrites(first)
    await adaWrites(second)
    const before = [first.peer.requests.length, second.peer.requests.length]
    expect(sourceOf(await send())).toBe('official_default')
    const path = `/api/v2/official-senders/${second.connectionId}/default`
    const chosen = await app.during(app.call(path, { method: 'POST', key: account.liveKey }))
    expect(chosen.status).toBe(200)
    expect(sourceOf(await send())).toBe('official_default')
    expect([first.peer.requests.length, second.peer.requests.length]).toEqual(before.map(each => each + 1))
  })

  test('"platform" is rejected while only the sandbox exists, else selects the platform’s sender', async () => {
    expect((await send({ officialSenderId: 'platform' })).status).toBe(400)
    platform = await gateway()
    await adaWrites(platform)
    expect(sourceOf(await send({ officialSenderId: 'platform' }))).toBe('request')
    expect(platform.peer.requests).toHaveLength(1)
    const bare = await app.createAccount({ balance: 1 })
    const answer = await app.during(
      bare.send({ to: ADA, channel: 'official_chatapp', text: 'Hello' }, { live: true }),
    )
    expect(sourceOf(answer)).toBe('platform')
    expect(platform.peer.requests).toHaveLength(2)
  })
})

describe('the sender shown with a message', () => {
  const shown = async (answer: Answer) => {
    const id = messageIdOf(answer)
    const { sender } = await account.message(id)
    const listed = await account.read<{ messageId: string; sender: string }[]>('/api/v2/messages')
    expect(listed.find(each => each.messageId === id)!.sender).toBe(sender)
    return sender
  }

  test('is its phone number, or the connection’s name before the number is known', async () => {
    await adaWrites(second)
    const answer = await send({ officialSenderId: second.connectionId })
    expect(await shown(answer)).toBe('whatsapp-cloud')
    await app.db.query({
      name: 'official_test_identity',
      text: `insert into official_senders (account_id, connection_id, next_check_at, checked_at, phone_number, display_name)
        select account_id, id, now(), now(), '+15550783881', 'Jasper’s' from connections where id = $1
        on conflict (account_id, connection_id) do update set checked_at = now(), phone_number = '+15550783881'`,
      values: [toUuid(second.connectionId as `cnn_${string}`)],
    })
    expect(await shown(answer)).toBe('+15550783881')
  })

  test('is the platform’s name for the platform’s sender', async () => {
    expect(await shown(await send({}, false))).toMatch(/^(Platform|Posthorn Sandbox)$/)
  })
})

describe('a WhatsApp webhook', () => {
  async function sentBy(sender: Gateway): Promise<{ id: string; wamid: string }> {
    await adaWrites(sender)
    const answer = await send({ officialSenderId: sender.connectionId })
    expect(answer.body['status'], answer.text).toBe('sent')
    const id = messageIdOf(answer)
    const { rows } = await app.db.query<{ wamid: string }>({
      name: 'official_test_wamid',
      text: 'select provider_id as wamid from messages order by id desc limit 1',
    })
    return { id, wamid: rows[0]!.wamid }
  }

  test('with the status failed and code 131026 fails the message as not registered and refunds it', async () => {
    const before = await account.wallet()
    const { id, wamid } = await sentBy(first)
    expect((await account.wallet()).captured).toBeCloseTo(before.captured + PRICE, 6)
    const webhook = await postWebhook(
      first,
      event(messagesChange({ statuses: [failed(131026, { id: wamid })] })),
    )
    expect(webhook.status).toBe(200)
    const message = await account.message(id)
    expect(message).toMatchObject({
      status: 'failed',
      errorCode: 'CHATAPP_NOT_REGISTERED',
      billing: { state: 'released' },
    })
    expect(await account.wallet()).toEqual(before)
  })

  test('with the statuses delivered and read marks the message as read', async () => {
    const { id, wamid } = await sentBy(first)
    const statuses = [status('delivered', { id: wamid }), status('read', { id: wamid })]
    await postWebhook(first, event(messagesChange({ statuses })))
    expect((await account.message(id)).status).toBe('read')
  })

  test('whose body does not match its signature is rejected with 401 and changes nothing', async () => {
    const { id, wamid } = await sentBy(first)
    const payload = event(messagesChange({ statuses: [failed(131026, { id: wamid })] }))
    const forged = await postWebhook(first, payload, signatureOf(`${JSON.stringify(payload)} `))
    expect(forged).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(forged.headers.get('www-authenticate')).toBe('Signature realm="Posthorn webhooks"')
    expect((await account.message(id)).status).toBe('sent')
  })

  test('handshake returns the challenge for the right token, and 403 for another', async () => {
    const ask = (token: string) =>
      app.call(
        `/webhooks/whatsapp-cloud/${first.connectionId}?${new URLSearchParams({
          'hub.mode': 'subscribe',
          'hub.challenge': '1158201444',
          'hub.verify_token': token,
        })}`,
      )
    const { verifyToken } = whatsAppCloudFixture.configFor('http://127.0.0.1:1')
    const taken = await ask(verifyToken)
    expect([taken.status, taken.text]).toEqual([200, '1158201444'])
    expect(taken.headers.get('content-type')).toContain('text/plain')
    expect(await ask('another')).toMatchObject({ status: 403, body: { success: false, code: 'FORBIDDEN' } })
  })
})

test('a rate limit for one recipient throttles the message without counting an attempt', async () => {
  await adaWrites(first)
  let refused = true
  first.act(() => {
    if (!refused) return whatsAppCloudFixture.taken(70_001)
    refused = false
    return graphError(400, 131056)
  })
  const answer = await send({ officialSenderId: first.connectionId })
  expect(answer.status, answer.text).toBe(200)
  const message = await app.until(
    () => account.message(messageIdOf(answer)),
    found => found.status === 'sent',
  )
  expect(message.timeline.filter(each => each.event === 'attempt')).toMatchObject([
    { outcome: 'throttled', providerCode: '131056' },
    { outcome: 'accepted' },
  ])
  expect(message.attempts).toBe(1)
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import {
  contacts,
  event,
  failed,
  METADATA,
  preferenceChange,
  signatureOf,
  wrote,
} from '../../channels/whatsapp-cloud/calls.ts'
import { whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import { type HttpPeer, type PeerAct, startHttpPeer } from '../../support/http-peer.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'

const PERSON = '+16505551234'
const NUMBER = '+15550783881'

let app: TestApp
let peer: HttpPeer
let receiver: Receiver
let account: TestAccount
let own: string
/** The responses of the provider to the lookup of a file and to its download. */
let file: { look: PeerAct; bytes: PeerAct }
let nth = 0

beforeAll(async () => {
  receiver = await startReceiver()
  peer = await startHttpPeer(({ path }, count) => {
    if (path === '/file') return file.bytes
    return path.startsWith('/v25.0/4711?') ? file.look : whatsAppCloudFixture.taken(count)
  })
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
}, 60_000)
afterAll(async () => {
  await app.stop()
  await Promise.all([peer.close(), receiver.close()])
})
beforeEach(async () => {
  receiver.got.length = 0
  account = await app.createAccount()
  own = await connect('Support')
  const url = `${peer.url}/file`
  file = {
    look: json({ url, mime_type: 'image/jpeg' }),
    bytes: { status: 200, body: 'not really a picture' },
  }
})

const json = (body: object): PeerAct => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

async function connect(name: string, owner: TestAccount | null = account): Promise<string> {
  const answer = await app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name,
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor(peer.url),
    ...(owner && { accountId: owner.id }),
  })
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { connection: { id: string } }).connection.id
}

/** Calls the webhook as WhatsApp does for a message, with a valid signature. */
function write(content: object, more: object = {}, connectionId = own): Promise<Answer> {
  const message = { ...wrote(content), id: `wamid.${++nth}`, timestamp: seconds(), ...more }
  const value = { messaging_product: 'whatsapp', metadata: METADATA, contacts, messages: [message] }
  return callWebhook({ field: 'messages', value }, connectionId)
}

function callWebhook(change: object, connectionId = own): Promise<Answer> {
  const body = JSON.stringify(event(change))
  return app.during(
    app.call(`/webhooks/whatsapp-cloud/${connectionId}`, {
      method: 'POST',
      headers: { 'x-hub-signature-256': signatureOf(body) },
      body,
    }),
  )
}

const seconds = () => String(Math.floor(app.now() / 1_000))
const text = (body: string) => ({ type: 'text', text: { body } })
const picture = { type: 'image', image: { id: '4711', mime_type: 'image/jpeg', caption: 'Look' } }
const inbound = (query = '', of = account) => of.read<InboundMessageView[]>(`/api/v2/inbound${query}`)
const first = async () => (await inbound())[0]!
const send = (body: object) => app.during(account.send(body, { live: true }))

describe('a webhook call of WhatsApp', () => {
  test('that reports an opt-out under an id with a NUL character returns 200', async () => {
    const statuses = [failed(131050, { id: 'wamid.\0' })]
    const value = { messaging_product: 'whatsapp', metadata: METADATA, statuses }
    const answer = await callWebhook({ field: 'messages', value })
    expect(answer.status, answer.text).toBe(200)
  })

  test('that a person stopped marketing in the app suppresses them until they resume it, and a repeat changes nothing', async () => {
    const suppressions = () => account.read<object[]>('/api/v2/suppressions')
    const stop = preferenceChange()
    expect((await callWebhook(stop)).status).toBe(200)
    expect(await suppressions()).toMatchObject([
      { to: PERSON, channel: 'official_chatapp', source: 'provider' },
    ])
    await write(text('Hello'))
    const refused = await send({
      to: PERSON,
      channel: 'official_chatapp',
      messageType: 'marketing',
      text: 'Sale!',
    })
    expect([refused.status, refused.body['code']], refused.text).toEqual([400, 'RECIPIENT_SUPPRESSED'])
    await callWebhook(preferenceChange({ value: 'resume', timestamp: 1_731_705_800 }))
    expect(await suppressions()).toEqual([])
    await callWebhook(stop)
    expect(await suppressions()).toEqual([])
  })

  test('that arrives after what the person decided later changes nothing', async () => {
    const suppressions = () => account.read<object[]>('/api/v2/suppressions')
    const at = Math.floor(app.now() / 1_000)
    await callWebhook(preferenceChange({ value: 'stop', timestamp: at }))
    expect(await suppressions()).toHaveLength(1)
    await callWebhook(preferenceChange({ value: 'resume', timestamp: at - 60 }))
    expect(await suppressions()).toHaveLength(1)
    await callWebhook(preferenceChange({ value: 'resume', timestamp: at + 1 }))
    expect(await suppressions()).toEqual([])
    await callWebhook(preferenceChange({ value: 'stop', timestamp: at - 30 }))
    expect(await suppressions()).toEqual([])
  })

  test('that arrives after a keyword that the person sent later changes nothing', async () => {
    const suppressions = () => account.read<object[]>('/api/v2/suppressions')
    const at = Math.floor(app.now() / 1_000)
    await write(text('STOP'), { timestamp: String(at) })
    expect(await suppressions()).toMatchObject([{ to: PERSON, source: 'stop' }])
    await callWebhook(preferenceChange({ value: 'resume', timestamp: at - 60 }))
    expect(await suppressions()).toHaveLength(1)
    await callWebhook(preferenceChange({ value: 'resume', timestamp: at + 1 }))
    expect(await suppressions()).toEqual([])
  })

  test('outdates a keyword that the person had sent before, and that arrives later', async () => {
    const suppressions = () => account.read<object[]>('/api/v2/suppressions')
    const at = Math.floor(app.now() / 1_000)
    await callWebhook(preferenceChange({ value: 'stop', timestamp: at }))
    await write(text('START'), { timestamp: String(at - 60) })
    expect(await suppressions()).toMatchObject([{ to: PERSON, source: 'provider' }])
    await write(text('START'), { timestamp: String(at) })
    expect(await suppressions()).toEqual([])
  })

  test('that a person resumed marketing leaves the suppressions that the account made', async () => {
    const made = await app.call('/api/v2/suppressions', {
      method: 'POST',
      key: account.liveKey,
      body: { to: PERSON, channel: 'official_chatapp' },
    })
    expect(made.status, made.text).toBe(201)
    await callWebhook(preferenceChange({ value: 'resume' }))
    expect(await account.read<object[]>('/api/v2/suppressions')).toMatchObject([{ source: 'api' }])
  })
})

describe('a message in a group of an official sender', () => {
  test('neither opens the window of its author, nor suppresses them, nor can be answered', async () => {
    const group = { group_id: 'Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD' }
    expect((await write(text('STOP'), group)).status).toBe(200)
    expect(await first()).toMatchObject({
      from: PERSON,
      text: 'STOP',
      keyword: null,
      conversationContext: null,
    })
    expect(await account.read<object[]>('/api/v2/suppressions')).toEqual([])
    const answer = await send({ to: PERSON, channel: 'official_chatapp', text: 'Hi' })
    expect(answer.status, answer.text).toBe(400)
    expect(faultPaths(answer)).toEqual(['template'])
  })
})

describe('a message to an official sender', () => {
  test('has a conversationContext, and a reply with it goes over the same connection', async () => {
    expect((await write(text('Hello'))).status).toBe(200)
    const got = await first()
    expect(got).toMatchObject({
      from: PERSON,
      to: NUMBER,
      text: 'Hello',
      contact: { id: '16505551234', name: 'Sheena Nelson' },
      conversationContext: {
        moduleType: 'chatapp_official',
        accountId: own,
        chatId: PERSON,
        contactId: '16505551234',
        conversationKey: `chatapp_official:${own}:${PERSON}`,
      },
    })
    await connect('Another, which is tried first by its name alone')
    const { conversationContext } = got
    const answer = await send({ to: conversationContext!.chatId, text: 'Hi Sheena', conversationContext })
    expect(answer.body, answer.text).toMatchObject({
      status: 'sent',
      resolved: { channel: 'official_chatapp', senderSource: 'request' },
    })
    expect(await account.message(messageIdOf(answer))).toMatchObject({
      connectionId: own,
      conversationContext,
    })
  })

  test('is sent to webhooks in full, and events of a reply name the sender and conversation too', async () => {
    await app.call('/api/v2/webhooks', {
      method: 'POST',
      key: account.liveKey,
      body: { url: receiver.url(), events: ['inbound.message', 'message.sent'] },
    })
    await write(picture)
    await app.until(
      async () => receiver.got.length,
      length => length === 1,
    )
    const got = await first()
    expect(receiver.got[0]!.body).toMatchObject({ type: 'inbound.message', data: got })
    const { conversationContext } = got
    await send({ to: PERSON, text: 'Thanks', conversationContext })
    await app.until(
      async () => receiver.got.length,
      length => length === 2,
    )
    expect(receiver.got[1]!.body['data']).toMatchObject({
      channel: 'official_chatapp',
      sender: 'Support',
      conversationContext,
    })
  })

  test('by a button has its title and its payload', async () => {
    await write({
      type: 'button',
      button: { payload: 'CONFIRM-1', text: 'Confirm' },
      context: { id: 'wamid.0' },
    })
    expect(await first()).toMatchObject({
      text: 'Confirm',
      button: 'CONFIRM-1',
      buttonTitle: 'Confirm',
      replyTo: 'wamid.0',
    })
  })

  test('with a location or contact cards is listed and sent to webhooks with them', async () => {
    await app.call('/api/v2/webhooks', {
      method: 'POST',
      key: account.liveKey,
      body: { url: receiver.url(), events: ['inbound.message'] },
    })
    await write({ type: 'location', location: { latitude: 37.44, longitude: -122.16, name: 'Philz Coffee' } })
    await write({ type: 'location', location: { latitude: 137.44, longitude: -122.16 } })
    const card = {
      name: { formatted_name: 'Barbara' },
      phones: [{ phone: '+1 (415) 555-0829', wa_id: '14155550829' }],
      emails: [{ email: 'barbara@example.com' }, {}],
    }
    await write({ type: 'contacts', contacts: [card, {}] })
    const got = await inbound()
    const NOTHING = { text: null, media: [], location: null, contacts: [] }
    const phones = ['+14155550829']
    const contacts = [{ id: '14155550829', name: 'Barbara', phones, emails: ['barbara@example.com'] }]
    const location = { latitude: 37.44, longitude: -122.16, name: 'Philz Coffee', address: null }
    expect(got).toMatchObject([{ ...NOTHING, contacts }, NOTHING, { ...NOTHING, location }])
    await app.until(
      async () => receiver.got.length,
      length => length === 3,
    )
    const reported = receiver.got.map(({ body }) => body['data'] as InboundMessageView)
    expect(new Map(reported.map(each => [each.id, each]))).toEqual(new Map(got.map(each => [each.id, each])))
  })

  test('can be read by its id, by its own account only', async () => {
    await write(text('Hello'))
    const got = await first()
    expect(await account.read(`/api/v2/inbound/${got.id}`)).toEqual(got)
    const other = await app.createAccount()
    for (const [key, id] of [
      [other.liveKey, got.id],
      [account.liveKey, 'inb_01m80000000000000000000000'],
      [account.liveKey, 'x'],
    ] as const) {
      expect((await app.call(`/api/v2/inbound/${id}`, { key })).status).toBe(404)
    }
    expect((await app.call(`/api/v2/inbound/${got.id}`)).status).toBe(401)
  })

  test('to a number of the platform belongs to the operator', async () => {
    const shared = await connect('Platform', null)
    await write(text('Hello'), {}, shared)
    expect(await inbound()).toEqual([])
    const kept = await app.admin('GET', '/inbound?limit=1')
    expect(kept.body['data']).toMatchObject([{ conversationContext: { accountId: 'platform' } }])
  })

  test('with the text STOP suppresses marketing over that channel', async () => {
    await write(text('STOP'))
    expect(await first()).toMatchObject({ keyword: 'stop' })
    const marketing = { to: PERSON, channel: 'official_chatapp', messageType: 'marketing', text: 'Sale' }
    expect((await send(marketing)).body['code']).toBe('RECIPIENT_SUPPRESSED')
    expect((await send({ ...marketing, messageType: 'utility' })).status).toBe(200)
  })
})

describe('the list of inbound messages', () => {
  test('is filtered by connection, conversation, recipient and sender', async () => {
    const second = await connect('Second')
    await write(text('1'))
    await write(text('2'), { from: '447700900123' })
    await write(text('3'), {}, second)
    const texts = async (query: string) => (await inbound(query)).map(each => each.text)
    expect(await texts(`?accountId=${own}`)).toEqual(['2', '1'])
    expect(
      await texts(`?conversationKey=${encodeURIComponent(`chatapp_official:${own}:${PERSON}`)}`),
    ).toEqual(['1'])
    expect(await texts(`?conversationKey=chatapp_official:${second}:${PERSON}`)).toEqual(['3'])
    expect(await texts(`?to=${encodeURIComponent(NUMBER)}&from=${encodeURIComponent(PERSON)}`)).toEqual([
      '3',
      '1',
    ])
    expect(await texts('?to=+15550783880')).toEqual([])
    const page = await app.call(`/api/v2/inbound?accountId=${own}&limit=1`, { key: account.liveKey })
    expect(await texts(`?accountId=${own}&cursor=${page.body['nextCursor']}`)).toEqual(['1'])
  })

  test.each([
    ['?to=', 'to'],
    ['?accountId=', 'accountId'],
    [`?conversationKey=${'x'.repeat(501)}`, 'conversationKey'],
  ])('returns 400 for %s and names the parameter', async (query, path) => {
    const answer = await app.call(`/api/v2/inbound${query}`, { key: account.liveKey })
    expect([answer.status, faultPaths(answer)]).toEqual([400, [path]])
  })
})

describe('a file in an inbound message', () => {
  const get = (path: string | null, key = account.liveKey) => app.call(path!, { key })

  test('is described, and its download is passed on from the provider', async () => {
    await write(picture)
    const { id, media } = await first()
    const path = `/api/v2/inbound/${id}/media/0`
    expect(media).toEqual([{ type: 'image', mimetype: 'image/jpeg', fileName: null, sizeBytes: null, path }])
    const answer = await get(path)
    expect([answer.status, answer.text]).toEqual([200, 'not really a picture'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': `attachment; filename="file"; filename*=UTF-8''file`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  test('is downloaded with a cleaned file name and no content type that could inject a header', async () => {
    const filename = '../etc/"Ärger"\u202e\r\n.pdf'
    const document = { id: '4711', mime_type: 'text/html\r\nX-Evil: 1', filename }
    await write({ type: 'document', document })
    const answer = await get((await first()).media[0]!.path)
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="__rger_.pdf"; filename*=UTF-8''%22%C3%84rger%22.pdf`,
    )
    expect(answer.headers.get('x-evil')).toBeNull()
  })

  test('that does not exist or belongs to another account returns 404', async () => {
    await write(picture)
    const { id } = await first()
    for (const index of ['1', '9', '10', '-1', 'x', '00']) {
      expect((await get(`/api/v2/inbound/${id}/media/${index}`)).status, index).toBe(404)
    }
    const other = await app.createAccount()
    expect((await get(`/api/v2/inbound/${id}/media/0`, other.liveKey)).status).toBe(404)
  })

  test('returns 404 if the provider no longer has it, and 503 if the provider fails', async () => {
    await write(picture)
    const { path } = (await first()).media[0]!
    file.bytes = { status: 404 }
    expect((await get(path)).body).toMatchObject({ code: 'NOT_FOUND' })
    file.bytes = { status: 500 }
    const later = await get(path)
    expect(later.body).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryAfterSeconds: 1 })
    await app.admin('PATCH', `/connections/${own}`, { enabled: false })
    const closed = await app.until(
      () => get(path),
      answer => answer.status !== 200,
    )
    expect(closed.body).toMatchObject({ code: 'PROVIDER_UNAVAILABLE' })
  })

  test('fails the download if the provider cuts it off, and can be read again', async () => {
    await write(picture)
    const { path } = (await first()).media[0]!
    file.bytes = { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf' }
    await expect(get(path)).rejects.toThrow()
    file.bytes = { status: 200, body: 'again' }
    expect((await get(path)).text).toBe('again')
  })

  test.each([
    ['cuts the connection', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'],
    ['sends invalid HTTP', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n'],
  ])('returns 503 if the provider %s after the head of its answer', async (_, raw) => {
    await write(picture)
    const { path } = (await first()).media[0]!
    file.bytes = { raw }
    expect((await get(path)).body).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryAfterSeconds: 1 })
  })

  test('is rate limited while the account downloads eight others', async () => {
    await write(picture)
    const { path } = (await first()).media[0]!
    file.bytes = 'silent'
    const giveUp = new AbortController()
    const before = peer.requests.length
    const reading = Array.from({ length: 8 }, () =>
      fetch(app.url + path, { headers: { 'x-api-key': account.liveKey }, signal: giveUp.signal }).catch(
        () => null,
      ),
    )
    await peer.submitted(before + 16)
    expect((await get(path)).body).toMatchObject({ code: 'RATE_LIMITED' })
    giveUp.abort()
    await Promise.all(reading)
  })
})

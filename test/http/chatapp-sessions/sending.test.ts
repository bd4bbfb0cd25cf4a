import { proto } from 'baileys'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import type { WebhookView } from '../../../src/contract/webhook.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { connectWebSessions, sessionsOf } from '../../support/web-sessions.ts'

const PHONE = '+12025550123'
const GROUP = '120363020000000099@g.us'

let server: ChatappServer
let receiver: Receiver
let app: TestApp
let account: TestAccount
let sessions: ReturnType<typeof sessionsOf>

beforeAll(async () => {
  server = await startChatappServer({
    groups: [{ id: GROUP, subject: 'Team', participants: ['12025550123@s.whatsapp.net'] }],
  })
  receiver = await startReceiver()
  app = await startTestApp({
    env: {
      POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      // Encryption runs on other threads, which the test clock does not wait for.
      POSTHORN_SYNC_WAIT_MS: '10000',
    },
  })
  account = await app.createAccount()
  sessions = sessionsOf(app, account)
  await connectWebSessions(app, server.url)
  await app.call('/api/v2/webhooks', { method: 'POST', key: account.liveKey, body: { url: receiver.url() } })
  await sessions.open('desk')
})
afterAll(async () => {
  await app.stop()
  await server.close()
  await receiver.close()
})
beforeEach(() => server.set({ message: 'ack', registered: () => true, login: 'success', cutAt: null }))

const context = (chatId: string, accountId = 'desk') => ({
  conversationContext: { moduleType: 'chatapp_web', accountId, chatId },
})
const send = (body: Record<string, unknown>): Promise<Answer> =>
  app.during(account.send(body, { live: true }))
const idOf = (answer: Answer) => (answer.body['tracking'] as { messageId: string }).messageId
const untilStatus = (id: string, status: string) =>
  app.until(
    () => account.message(id),
    message => message.status === status,
  )
const fromAda = (id: string, content: Buffer) =>
  server.send({
    tag: 'message',
    attrs: { from: '12025550123@s.whatsapp.net', id, t: '1767225600', notify: 'Ada' },
    content: [{ tag: 'plaintext', attrs: {}, content }],
  })
const text = (words: string) => Buffer.concat([Buffer.from([10, words.length]), Buffer.from(words)])

describe('a send over a web session', () => {
  test('uses the session named in its conversationContext', async () => {
    const answer = await send({ to: PHONE, text: 'Hello', ...context(PHONE) })
    expect(answer.body).toMatchObject({
      status: 'sent',
      resolved: { channel: 'user_chatapp_session', provider: 'whatsapp-web', senderSource: 'session' },
      tracking: { queueId: null },
    })
    expect(await account.message(idOf(answer))).toMatchObject({ sender: 'desk', status: 'sent' })
    expect(answer.headers.get('x-sandbox')).toBeNull()
  })

  test('uses the open session when it names none, and can be addressed to a group', async () => {
    const bare = await send({ to: PHONE, channel: 'user_chatapp_session', text: 'Hello' })
    expect(bare.body).toMatchObject({ status: 'sent' })
    expect(await account.message(idOf(bare))).toMatchObject({ sender: 'desk' })
    const group = await send({ to: GROUP, text: 'Hello all', ...context(GROUP) })
    expect(group.body).toMatchObject({ status: 'sent' })
    expect(server.received.findLast(node => node.tag === 'message')?.attrs['to']).toBe(GROUP)
  })

  test('is delivered and then read according to its delivery receipts', async () => {
    const answer = await send({ to: PHONE, text: 'Hello', ...context(PHONE) })
    const { id = '' } = server.received.findLast(node => node.tag === 'message')!.attrs
    const from = '12025550123@s.whatsapp.net'
    server.send({ tag: 'receipt', attrs: { id, from, t: '1767225600' } })
    await untilStatus(idOf(answer), 'delivered')
    server.send({ tag: 'receipt', attrs: { id, from, t: '1767225660', type: 'read' } })
    await untilStatus(idOf(answer), 'read')
  })

  test('is unknown when the connection is cut after it, until a receipt settles it', async () => {
    server.set({ message: 'cut' })
    const answer = await send({ to: PHONE, text: 'Into the dark', ...context(PHONE) })
    expect(answer.body).toMatchObject({ status: 'queued' })
    await untilStatus(idOf(answer), 'unknown')
    const { id = '' } = server.received.findLast(node => node.tag === 'message')!.attrs
    await sessions.until('desk', 'open')
    server.send({ tag: 'receipt', attrs: { id, from: '12025550123@s.whatsapp.net', t: '1767225600' } })
    await untilStatus(idOf(answer), 'delivered')
  })

  test('waits while the session reconnects, without using up an attempt', async () => {
    server.set({ cutAt: 'hello' })
    server.cut()
    await sessions.until('desk', 'connecting')
    const answer = await send({ to: PHONE, text: 'Patience', ...context(PHONE) })
    expect(answer.body).toMatchObject({ status: 'queued' })
    server.set({ cutAt: null })
    const sent = await untilStatus(idOf(answer), 'sent')
    expect(sent.timeline.filter(entry => entry.event === 'attempt')).toHaveLength(1)
  })

  test('is estimated as deliverable over an open session, not over an unknown one', async () => {
    const estimate = (body: unknown) =>
      app.call('/api/v2/messages/estimate', { method: 'POST', key: account.liveKey, body })
    const good = await estimate({ to: PHONE, text: 'Hello', ...context(PHONE) })
    expect(good.body['data']).toMatchObject({
      deliverable: true,
      resolved: { provider: 'whatsapp-web', senderSource: 'session' },
    })
    const bad = await estimate({ to: PHONE, text: 'Hello', ...context(PHONE, 'nobody') })
    expect(bad.body['data']).toMatchObject({ deliverable: false, reasons: [{ code: 'NOT_FOUND' }] })
  })
})

describe('a rejected send leaves the wallet unchanged', () => {
  async function refused(body: Record<string, unknown>, status: number, expected: object): Promise<void> {
    const before = await account.footprint()
    const answer = await send(body)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.body).toMatchObject(expected)
    const after = await account.footprint()
    expect(after.wallet).toEqual(before.wallet)
  }

  test('for a number that is not registered with the chat app, now or at a later time', async () => {
    server.set({ registered: () => false })
    const scheduleAt = new Date(app.now() + 3_600_000).toISOString()
    for (const options of [{}, { scheduleAt }]) {
      await refused({ to: '+12025550188', text: 'Hello', options, ...context('+12025550188') }, 400, {
        code: 'CHATAPP_NOT_REGISTERED',
      })
    }
  })

  test('for an unknown session', () =>
    refused({ to: PHONE, text: 'Hello', ...context(PHONE, 'nobody') }, 404, {
      code: 'NOT_FOUND',
      details: [{ path: 'conversationContext.accountId' }],
    }))

  test('for a session that is not linked yet', async () => {
    server.set({ login: 'qr' })
    await sessions.create({ name: 'unlinked' })
    await sessions.until('unlinked', 'qr')
    await refused({ to: PHONE, text: 'Hello', ...context(PHONE, 'unlinked') }, 409, {
      code: 'SESSION_NOT_OPEN',
      details: [{ path: 'conversationContext.accountId' }],
    })
    await sessions.call('DELETE', '/unlinked')
  })

  test('for a recipient that the chat app rejects', async () => {
    server.set({ message: { error: '403' } })
    await refused({ to: PHONE, text: 'Hello', ...context(PHONE) }, 400, { code: 'RECIPIENT_REJECTED' })
  })

  test.each([
    [
      'audio with the MIME type of a video',
      { type: 'audio', mimetype: 'video/mp4', base64: 'AAAA' },
      'attachment.mimetype',
    ],
    ['malformed base64', { type: 'image', base64: '%%%%' }, 'attachment.base64'],
    [
      'base64 with the prefix of a data URL',
      { type: 'image', base64: 'data:image/png;base64,AAAA' },
      'attachment.base64',
    ],
    ['neither a URL nor base64', { type: 'image' }, 'attachment.publicUrl'],
    [
      'a file larger than the chat app accepts',
      { type: 'image', base64: Buffer.alloc(16 * 1_048_576 + 1).toString('base64') },
      'attachment.base64',
    ],
  ])('for an invalid attachment: %s', (_, attachment, path) =>
    refused({ to: PHONE, attachment, ...context(PHONE) }, 400, {
      code: 'VALIDATION_ERROR',
      details: [{ path }],
    }),
  )
})

describe('an inbound message', () => {
  test('is stored once with a conversationContext for replies, and sent to webhooks', async () => {
    fromAda('IN-1', text('hi there'))
    fromAda('IN-1', text('hi there'))
    const inbound = () => account.read<InboundMessageView[]>('/api/v2/inbound')
    const [message] = await app.until(inbound, list => list.length > 0)
    expect(message).toMatchObject({
      channel: 'user_chatapp_session',
      from: PHONE,
      to: 'desk',
      text: 'hi there',
      conversationContext: { moduleType: 'chatapp_web', accountId: 'desk' },
    })
    expect(await inbound()).toHaveLength(1)
    const { conversationContext } = message!
    expect((await send({ to: PHONE, text: 'Hello', conversationContext })).body).toMatchObject({
      status: 'sent',
    })
    await app.until(
      async () => receiver.got.map(({ body }) => body['type']),
      types => types.includes('inbound.message'),
    )
  })

  test('keeps a location and a contact card', async () => {
    const observed = async (id: string, message: object) => {
      fromAda(id, Buffer.from(proto.Message.encode(proto.Message.fromObject(message)).finish()))
      const found = await app.until(
        () => account.read<InboundMessageView[]>('/api/v2/inbound?limit=1'),
        list => list[0]?.providerMessageId.endsWith(id) ?? false,
      )
      return found[0]
    }
    const place = { degreesLatitude: 51.5, degreesLongitude: -0.125, name: 'Charing Cross' }
    expect(await observed('IN-P', { locationMessage: place })).toMatchObject({
      text: null,
      location: { latitude: 51.5, longitude: -0.125, name: 'Charing Cross', address: null },
    })
    const vcard = 'BEGIN:VCARD\nFN:Bob\nTEL;waid=447700900124:07700 900124\nEND:VCARD'
    expect(await observed('IN-C', { contactMessage: { displayName: 'Bob', vcard } })).toMatchObject({
      text: null,
      contacts: [{ id: null, name: 'Bob', phones: ['+447700900124'], emails: [] }],
    })
  })

  test('keeps the id and title of a pressed button', async () => {
    // Message.buttonsResponseMessage (43): selectedButtonId (1), selectedDisplayText (2).
    const answer = Buffer.concat([
      Buffer.from([10, 3]),
      Buffer.from('yes'),
      Buffer.from([18, 4]),
      Buffer.from('Yes!'),
    ])
    fromAda('IN-2', Buffer.concat([Buffer.from([0xda, 0x02, answer.length]), answer]))
    const found = await app.until(
      () => account.read<InboundMessageView[]>('/api/v2/inbound?limit=1'),
      list => list[0]?.providerMessageId.endsWith('IN-2') ?? false,
    )
    expect(found[0]).toMatchObject({ button: 'yes', buttonTitle: 'Yes!' })
  })
})

test('a session sends events when it awaits pairing, opens and is logged out, not for a short drop', async () => {
  const observed = () =>
    receiver.got.flatMap(({ body }) => {
      const data = body['data'] as { name?: string; state?: string }
      return data.name === 'told' ? [{ type: body['type'], state: data.state }] : []
    })
  server.set({ login: 'qr' })
  await sessions.create({ name: 'told' })
  await sessions.until('told', 'qr')
  // A restart issues a new code, and so a new event.
  await sessions.call('POST', '/told/restart')
  await sessions.until('told', 'qr')
  server.set({ login: 'success' })
  await sessions.call('POST', '/told/restart')
  await sessions.until('told', 'open')
  // A connection that drops for a moment sends no event.
  server.cut()
  await server.connected(server.connections() + 1)
  await sessions.until('told', 'open')
  server.set({ login: { failure: 401 } })
  server.cut()
  await sessions.until('told', 'logged_out')
  await app.until(
    async () => observed(),
    events => events.length >= 4,
  )
  expect(observed()).toEqual([
    { type: 'session.pairing', state: 'qr' },
    { type: 'session.pairing', state: 'qr' },
    { type: 'session.open', state: 'open' },
    { type: 'session.logged_out', state: 'logged_out' },
  ])
})

test('an idempotent replay returns the stored response although the session is logged out', async () => {
  await sessions.open('leaving')
  const body = { to: PHONE, text: 'Bye', ...context(PHONE, 'leaving') }
  const once = () => app.during(account.send(body, { live: true, idempotencyKey: 'leaving' }))
  const first = await once()
  expect(first.body).toMatchObject({ status: 'sent' })
  server.set({ login: { failure: 401 } })
  server.cut()
  await sessions.until('leaving', 'logged_out')
  expect((await send(body)).body).toMatchObject({ code: 'SESSION_NOT_OPEN' })
  const again = await once()
  expect([again.status, again.text]).toEqual([200, first.text])
})

test('a webhook endpoint can subscribe to session events', async () => {
  const answer = await app.call('/api/v2/webhooks', {
    method: 'POST',
    key: account.liveKey,
    body: { url: receiver.url('/some'), events: ['session.open', 'session.closed'] },
  })
  expect((answer.body['data'] as { webhook: WebhookView }).webhook.events).toEqual([
    'session.open',
    'session.closed',
  ])
})

test('an account without sessions or a connection for them sends through the sandbox', async () => {
  const bare = await startTestApp()
  const other = await bare.createAccount()
  const answer = await bare.during(
    other.send({ to: PHONE, text: 'Hello', ...context(PHONE, 'any') }, { live: true }),
  )
  expect(answer.headers.get('x-sandbox')).toBe('true')
  await bare.stop()
})

import * as baileys from 'baileys'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LateOutcome, Outcome, Receipt } from '../../../src/channels/provider.ts'
import type { SessionLink } from '../../../src/channels/shared/session.ts'
import { loadAuthState } from '../../../src/channels/whatsapp-web/auth-state.ts'
import { createChatBook } from '../../../src/channels/whatsapp-web/chat-book.ts'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { createDisconnectCounter } from '../../../src/channels/whatsapp-web/disconnects.ts'
import { createIncoming } from '../../../src/channels/whatsapp-web/incoming.ts'
import { type Line, type LineEnd, openLine } from '../../../src/channels/whatsapp-web/line.ts'
import { messageIdOf } from '../../../src/channels/whatsapp-web/message-id.ts'
import { queryRegistration } from '../../../src/channels/whatsapp-web/recipients.ts'
import { createSender } from '../../../src/channels/whatsapp-web/sender.ts'
import { openWebSession } from '../../../src/channels/whatsapp-web/session.ts'
import { startDatabaseProxy } from '../../faults/support/database-proxy.ts'
import { type ChatappServer, type Script, startChatappServer } from '../../support/chatapp-server.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createSignals } from '../../support/signals.ts'
import {
  createSessionIo,
  type ObservedSessionIo,
  type SessionIoOptions,
} from '../../support/web-session-io.ts'
import { never, outgoing } from '../conformance.ts'

/** What crabline's server lacks: linking, log-out, receipts, groups, registration queries and dropped connections. */

let server: ChatappServer
const links: SessionLink[] = []

beforeEach(async () => {
  server = await startChatappServer()
})
afterEach(async () => {
  await Promise.all(links.splice(0).map(link => link.close()))
  await server.close()
})

async function open(
  script: Partial<Script> = {},
  options: SessionIoOptions = { pairedAtMs: 0 },
): Promise<{ link: SessionLink; io: ObservedSessionIo }> {
  server.set(script)
  const io = createSessionIo(options)
  const link = await openWebSession(withWebDefaults({ socketUrl: server.url }), io)
  links.push(link)
  return { link, io }
}

/** How long a connection may stay silent at its beginning. */
const GREETING_MS = 30_000

/** A fake clock that signals when the session pauses before its next attempt. */
function createPausingClock() {
  const inner = createFakeClock(Date.now())
  const signals = createSignals()
  let pauses = 0
  const after: typeof inner.after = (delayMs, run) => {
    if (delayMs === GREETING_MS) return inner.after(delayMs, run)
    pauses++
    signals.notify()
    return inner.after(delayMs, () => {
      pauses--
      run()
    })
  }
  return { clock: { ...inner, after }, pausing: () => signals.until(() => pauses > 0) }
}

const GROUP = {
  id: '120363020000000099@g.us',
  subject: 'Team',
  participants: ['12025550123@s.whatsapp.net'],
}

const to = (recipient: string, nth = 1) =>
  outgoing(nth, { channel: 'user_chatapp_session', to: recipient, text: 'Hello' })

describe('linking, against a scripted server', () => {
  test('reports the QR code and its expiry', async () => {
    const { io } = await open({ login: 'qr' }, {})
    const news = await io.said('qr')
    expect(news).toMatchObject({ state: 'qr' })
    const { text, untilMs } = news as { text: string; untilMs: number }
    expect(text).toContain('ref-one')
    expect(untilMs).toBeGreaterThan(Date.now())
  })

  test('reports each QR code that follows with an expiry of its own, and closes after the last one', async () => {
    const clock = createFakeClock(Date.now())
    const { io } = await open({ login: 'qr' }, { clock })
    const firstMs = clock.now()
    await io.said('qr')
    await clock.advance(20_000)
    const sendCodes = (...refs: string[]) =>
      server.send({
        tag: 'iq',
        attrs: { type: 'set', id: 'pair-2', from: 's.whatsapp.net' },
        content: [
          {
            tag: 'pair-device',
            attrs: {},
            content: refs.map(ref => ({ tag: 'ref', attrs: {}, content: Buffer.from(ref) })),
          },
        ],
      })
    sendCodes('ref-three')
    await io.said('qr', 2)
    sendCodes()
    await io.said('closed')
    expect(io.news).toMatchObject([
      { state: 'connecting' },
      { state: 'qr', text: expect.stringContaining('ref-one'), untilMs: firstMs + 60_000 },
      { state: 'qr', text: expect.stringContaining('ref-three'), untilMs: firstMs + 80_000 },
      { state: 'closed', reconnects: false },
    ])
    expect(server.connections()).toBe(1)
  })

  test('requests a pairing code when a phone number is given', async () => {
    const { io } = await open({ login: 'qr' }, { askedPhone: '+14155550123' })
    const { code } = (await io.said('pairing_code')) as { code: string }
    expect(code).toMatch(/^[1-9A-HJ-NP-TV-Z]{8}$/)
    const asked = await server.next(node => node.tag === 'iq' && JSON.stringify(node).includes('link_code'))
    expect(JSON.stringify(asked)).toContain('14155550123@s.whatsapp.net')
  })

  test('closes without another attempt when the pairing code is refused', async () => {
    const { io } = await open({ login: 'qr' }, { askedPhone: '+14155550123' })
    await io.said('pairing_code')
    const error = { tag: 'error', attrs: { code: '429', text: 'rate-overlimit' } }
    server.send({
      tag: 'iq',
      attrs: { type: 'error', id: 'code', from: '@s.whatsapp.net' },
      content: [error],
    })
    expect(await io.said('closed')).toMatchObject({ reconnects: false })
    expect(server.connections()).toBe(1)
  })

  test('requests a pairing code again after an unused one', async () => {
    const known = new Map<string, string>()
    const first = await open({ login: 'qr' }, { askedPhone: '+14155550123', known })
    await first.io.said('pairing_code')
    await first.link.close()
    const second = await open({ login: 'qr' }, { askedPhone: '+14155550123', known })
    await second.io.said('pairing_code')
    expect(second.io.news.map(each => each.state)).toEqual(['connecting', 'pairing_code'])
  })
})

describe('dropped connections, against a scripted server', () => {
  test('a session that drops is open again without having been reported as closed', async () => {
    const { io } = await open()
    await io.said('open')
    server.cut()
    await io.said('open', 2)
    expect(io.news.map(each => each.state)).toEqual(['connecting', 'open', 'connecting', 'open'])
  })

  test.each(['connect', 'hello', 'login'] as const)(
    'a session that is disconnected at %s retries until it is open',
    async cutAt => {
      const { io } = await open({ cutAt })
      await server.connected(2)
      server.set({ cutAt: null })
      await io.said('open')
    },
  )

  test('a session reconnects when the server stays silent for 30 s', async () => {
    const clock = createFakeClock(Date.now())
    const { io } = await open({ login: 'silent' }, { pairedAtMs: 0, clock })
    await server.connected(1)
    server.set({ login: 'success' })
    await clock.advance(30_000)
    await io.said('open')
  })

  test('a session is reported as closed during a long outage, and as open afterwards', async () => {
    const { clock, pausing } = createPausingClock()
    const { io } = await open({}, { pairedAtMs: 0, clock })
    await io.said('open')
    server.set({ cutAt: 'hello' })
    server.cut()
    await pausing()
    while (!io.news.some(each => each.state === 'closed')) {
      await clock.advance(30_000)
      await pausing()
    }
    expect(io.news.at(-1)).toMatchObject({ state: 'closed', reconnects: true })
    server.set({ cutAt: null })
    await clock.advance(30_000)
    await io.said('open', 2)
  })

  test('a log-out is reported as such, and not retried', async () => {
    const { io } = await open()
    await io.said('open')
    server.set({ login: { failure: 401 } })
    server.cut()
    expect(await io.said('logged_out')).toMatchObject({ detail: expect.stringContaining('unlinked') })
    expect(server.connections()).toBe(2)
  })

  test('a session that another connection replaced is closed and does not reconnect', async () => {
    const { io } = await open()
    await io.said('open')
    server.send({
      tag: 'stream:error',
      attrs: {},
      content: [{ tag: 'conflict', attrs: { type: 'replaced' } }],
    })
    expect(await io.said('closed')).toMatchObject({
      reconnects: false,
      detail: expect.stringContaining('elsewhere'),
    })
    expect(server.connections()).toBe(1)
  })

  test('a session that another node holds does not reconnect, which would disconnect the other node', async () => {
    const { link, io } = await open()
    await io.said('open')
    await link.send(to('+12025550123', 1), never())
    io.beforeWrite = () => Promise.reject(new Error('another node holds this session'))
    server.cut()
    await server.lines(0)
    let outcome: Outcome
    do {
      await new Promise(resolve => setImmediate(resolve))
      outcome = await link.send(to('+12025550123', 2), never())
    } while (outcome.kind !== 'accepted' && !outcome.detail?.includes('released'))
    expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('released') })
    expect(server.connections()).toBe(1)
  })

  /** A line to a server that turns unresponsive, with a clock of its own. */
  async function openLineToProxy() {
    const proxy = await startDatabaseProxy(server.url.replace('ws:', 'http:'))
    const clock = createFakeClock(Date.now())
    const io = createSessionIo({ pairedAtMs: 0, clock })
    const auth = await loadAuthState(baileys, io.keys)
    const { promise: isOpen, resolve: opened } = Promise.withResolvers<void>()
    const on = { ...createIncoming(baileys, auth, io, createChatBook(io)), opened }
    const line = openLine({
      baileys,
      clock,
      config: withWebDefaults({ socketUrl: proxy.url.replace('http:', 'ws:') }),
      auth,
      log: io.log,
      sentMessage: async () => undefined,
      on: { ...on, qrShown() {}, queryRefused() {}, keysNotStored() {} },
    })
    await isOpen
    return { line, io, clock, proxy }
  }

  test('a connection whose server is unresponsive ends within one second', async () => {
    const { line, clock, proxy } = await openLineToProxy()
    proxy.killHalfway()
    let isOver = false
    const over = new Promise<LineEnd>(resolve => line.onEnd(resolve)).then(() => {
      isOver = true
    })
    line.end()
    expect(line.isOpen()).toBe(false)
    await clock.advance(999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await over
    await proxy.close()
  })

  test('a message that is ready when its connection is closing counts as not sent', async () => {
    const { line, io, clock, proxy } = await openLineToProxy()
    let prepared = async () => {}
    const send = createSender({
      log: io.log,
      async compose(_line, { text }) {
        await prepared()
        return baileys.proto.Message.fromObject({ extendedTextMessage: { text } })
      },
      isRegistered: async () => null,
      rememberSent() {},
      reportLateOutcome: async () => {},
    })
    // Now the library asks nothing before it encrypts a message to this recipient.
    expect(await send(line, to('+12025550123', 1), never())).toMatchObject({ kind: 'accepted' })
    prepared = async () => {
      proxy.killHalfway()
      line.end()
    }
    const outcome = send(line, to('+12025550123', 2), never())
    await clock.advance(1_000)
    expect(await outcome).toMatchObject({ kind: 'throttled', scope: 'message' })
    await proxy.close()
  })

  test('drops right after opening raise the failure count only from the fourth in a row on', () => {
    const drops = createDisconnectCounter(createFakeClock())
    const failures = [60_000, 100, 100, 100, 100, 100, 100, 60_000].map(openMs => drops.add(openMs).failures)
    expect(failures).toEqual([1, 1, 1, 1, 2, 3, 4, 1])
  })

  test('a session reconnects at once when the server requests a restart', async () => {
    const { io } = await open()
    await io.said('open')
    server.send({ tag: 'stream:error', attrs: { code: '515' } })
    await io.said('open', 2)
    expect(io.news.map(each => each.state)).toEqual(['connecting', 'open', 'open'])
  })

  test.each([402, 403, 406])(
    'a barred account (%i) is reported as closed without another attempt, not as a log-out',
    async failure => {
      const { io } = await open({ login: { failure } })
      expect(await io.said('closed')).toMatchObject({
        reconnects: false,
        detail: expect.stringContaining('barred'),
      })
    },
  )
})

describe('sending, against a scripted server', () => {
  test('a message to a number that is not registered is rejected without being sent', async () => {
    const { link, io } = await open({ registered: phone => phone !== '+12025550199' })
    await io.said('open')
    expect(await link.reaches?.('+12025550199', never())).toBe(false)
    expect(await link.reaches?.('+12025550123', never())).toBe(true)
    expect(await link.send(to('+12025550199'), never())).toMatchObject({
      kind: 'rejected',
      code: 'CHATAPP_NOT_REGISTERED',
    })
    expect(server.received.some(node => node.tag === 'message')).toBe(false)
  })

  test('a server that disconnects on a registration query gets no second one', async () => {
    const { link, io } = await open({ hangsUpOverWhoIsThere: true })
    await io.said('open')
    await expect(link.reaches?.('+12025550123', never())).rejects.toThrow()
    await io.said('open', 2)
    expect(await link.send(to('+12025550123'), never())).toMatchObject({ kind: 'accepted' })
    expect(server.connections()).toBe(2)
  })

  test.each([
    ['returns true for a registered number', async () => [{ jid: 'x', exists: true }], true],
    ['returns false for a number that is not registered', async () => [], false],
    ['returns "no answer" after a timeout', async () => undefined, 'no answer'],
    [
      'returns "no answer" over the rate limit',
      () => Promise.reject(new Error('rate-overlimit')),
      'no answer',
    ],
  ])('a registration query %s', async (_, onWhatsApp, result) => {
    const line = { sock: { onWhatsApp }, onEnd: () => () => {}, isOpen: () => true }
    expect(await queryRegistration(line as unknown as Line, '+12025550123')).toBe(result)
  })

  test('a response after the timeout is reported as a late outcome', async () => {
    const { link, io } = await open({ message: 'silent' })
    await io.said('open')
    const reported = Promise.withResolvers<LateOutcome>()
    io.reportLateOutcome = async late => reported.resolve(late)
    const deadline = new AbortController()
    const message = to('+12025550123')
    const sent = link.send(message, deadline.signal)
    const { attrs } = await server.next(({ tag }) => tag === 'message')
    deadline.abort()
    expect(await sent).toMatchObject({ kind: 'unknown' })
    const ack = { class: 'message', id: attrs['id']!, from: attrs['to']!, t: '1767225600', error: '403' }
    server.send({ tag: 'ack', attrs: ack })
    const { accountId, attemptId } = message
    expect(await reported.promise).toMatchObject({ accountId, attemptId, outcome: { kind: 'rejected' } })
  })

  test('a message that times out before it is encrypted is unknown, because it is still sent', async () => {
    const { link, io } = await open()
    await io.said('open')
    await link.send(to('+12025550124', 1), never())
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { read } = io.keys
    io.keys.read = async (kind, ids) => {
      if (kind === 'session') asked.resolve()
      if (kind === 'session') await gate.promise
      return read(kind, ids)
    }
    const deadline = new AbortController()
    const sent = link.send(to('+12025550123', 2), deadline.signal)
    await asked.promise
    deadline.abort()
    expect(await sent).toMatchObject({ kind: 'unknown' })
    gate.resolve()
    const { attrs } = await server.next(
      ({ tag, attrs }) => tag === 'message' && attrs['to'] !== '12025550124@s.whatsapp.net',
    )
    expect(attrs['id']).toBe(messageIdOf(outgoing(2).attemptId))
  })

  test('a message to a group is addressed to the group, which is reported as a chat', async () => {
    const { link, io } = await open({ groups: [GROUP] })
    await io.said('open')
    const sent = link.send(to(GROUP.id), never())
    const node = await server.next(({ tag }) => tag === 'message')
    expect(node.attrs['to']).toBe(GROUP.id)
    expect(await sent).toMatchObject({ kind: 'accepted' })
    expect(io.chatsTold).toContainEqual({
      chatId: GROUP.id,
      kind: 'group',
      name: 'Team',
      lastMessageAtMs: null,
    })
  })

  test.each([
    ['person', '+12025550123'],
    ['group', GROUP.id],
  ])('a message to a %s whose keys the server refuses is not sent, and tried again later', async (_, to) => {
    const { link, io } = await open({ groups: [GROUP], keys: 'refuse' })
    await io.said('open')
    const message = outgoing(1, { channel: 'user_chatapp_session', to, text: 'Hello' })
    expect(await link.send(message, never())).toEqual({ kind: 'retry', detail: 'service-unavailable' })
    expect(server.received.some(node => node.tag === 'message')).toBe(false)
    server.set({ keys: 'give' })
    expect(await link.send(message, never())).toMatchObject({ kind: 'accepted' })
  })

  test('a message has an id made from its attempt, and its receipts carry the attempt id', async () => {
    const { link, io } = await open()
    await io.said('open')
    const message = to('+12025550123')
    const id = messageIdOf(message.attemptId)
    expect(await link.send(message, never())).toEqual({ kind: 'accepted', providerId: id })
    const from = '12025550123@s.whatsapp.net'
    server.send({ tag: 'receipt', attrs: { id, from, t: '1767225600' } })
    server.send({ tag: 'receipt', attrs: { id, from, t: '1767225660', type: 'read' } })
    await io.emitted(2)
    const facts = io.inbound.map(each => {
      const { status, attemptId, atMs } = each as Receipt
      return { status, attemptId, atMs }
    })
    expect(facts).toEqual([
      { status: 'delivered', attemptId: message.attemptId, atMs: 1_767_225_600_000 },
      { status: 'read', attemptId: message.attemptId, atMs: 1_767_225_660_000 },
    ])
  })

  test('a receipt for several messages counts for each, and one of our own devices is ignored', async () => {
    const { io } = await open()
    await io.said('open')
    const [first, second] = [1, 2].map(nth => messageIdOf(outgoing(nth).attemptId))
    const from = '12025550123@s.whatsapp.net'
    server.send({ tag: 'receipt', attrs: { id: first!, from, type: 'sender' } })
    const list = [{ tag: 'list', attrs: {}, content: [{ tag: 'item', attrs: { id: second! } }] }]
    server.send({ tag: 'receipt', attrs: { id: first!, from, type: 'read' }, content: list })
    await io.emitted(1)
    expect(io.inbound.map(each => (each as Receipt).providerId)).toEqual([first, second])
  })

  test('a message is unknown when the connection is cut before the response', async () => {
    const { link, io } = await open({ message: 'cut' })
    await io.said('open')
    expect(await link.send(to('+12025550123'), never())).toMatchObject({ kind: 'unknown' })
  })

  test('a message is accepted while the keys are not stored yet', async () => {
    const { link, io } = await open()
    await io.said('open')
    await link.send(to('+12025550123', 1), never())
    const gate = Promise.withResolvers<void>()
    io.beforeWrite = () => gate.promise
    const outcome = await link.send(to('+12025550123', 2), never())
    gate.resolve()
    expect(outcome).toMatchObject({ kind: 'accepted' })
  })

  test('a message is sent again from its stored text when its recipient cannot decrypt it', async () => {
    const asked: string[] = []
    const { io } = await open(
      {},
      {
        pairedAtMs: 0,
        async sentText(messageId) {
          asked.push(messageId)
          return { to: '+12025550123', text: 'Hello' }
        },
      },
    )
    await io.said('open')
    const message = outgoing(1)
    const id = messageIdOf(message.attemptId)
    const retry = { tag: 'retry', attrs: { count: '1', id, t: '1767225600', v: '1' } }
    // A retry request from another number gets nothing.
    for (const from of ['12025550199@s.whatsapp.net', '12025550123@s.whatsapp.net']) {
      server.send({
        tag: 'receipt',
        attrs: { id, from, type: 'retry', t: '1767225600' },
        content: [retry, { tag: 'registration', attrs: {}, content: Buffer.from([0, 0, 18, 103]) }],
      })
    }
    const again = await server.next(({ tag }) => tag === 'message')
    expect(again.attrs).toMatchObject({ id, to: expect.stringMatching(/^12025550123@/) })
    expect(asked).toEqual([message.messageId, message.messageId])
  })
})

test('logOut() removes the device from the phone', async () => {
  const { link, io } = await open()
  await io.said('open')
  await link.logOut(never())
  const asked = await server.next(node => JSON.stringify(node).includes('remove-companion-device'))
  expect(asked.attrs['type']).toBe('set')
})

test('a message that the library holds back is emitted before the session is closed', async () => {
  const { link, io } = await open()
  await io.said('open')
  const content = baileys.proto.Message.encode({ conversation: 'Are you open today?' }).finish()
  server.send({
    tag: 'message',
    // Received while the session was not connected: the library collects such messages for a moment.
    attrs: { id: '3EB0A1', from: '12025550123@s.whatsapp.net', t: '1767225600', type: 'text', offline: '1' },
    content: [{ tag: 'plaintext', attrs: {}, content }],
  })
  // From here on WhatsApp does not send it again.
  await server.next(({ tag, attrs }) => tag === 'receipt' && attrs['id'] === '3EB0A1')
  await link.close()
  expect(io.inbound).toMatchObject([{ kind: 'message', text: 'Are you open today?' }])
})

test('a session whose keys belong to another node ends without a report, and without another attempt', async () => {
  const { link, io } = await open()
  await io.said('open')
  io.beforeWrite = () => Promise.reject(new Error('another node holds this session'))
  await link.send(to('+12025550123'), never())
  server.cut()
  await server.lines(0)
  await link.close()
  expect(io.news.map(each => each.state)).toEqual(['connecting', 'open'])
  expect(server.connections()).toBe(1)
  expect(await link.send(to('+12025550123'), never())).toMatchObject({ kind: 'retry' })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWhatsAppServer } from '@openclaw/crabline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionLink } from '../../../src/channels/shared/session.ts'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { openWebSession } from '../../../src/channels/whatsapp-web/session.ts'
import type { InboundMessage } from '../../../src/contract/reported-message.ts'
import { createSessionIo, type ObservedSessionIo } from '../../support/web-session-io.ts'
import { never, outgoing } from '../conformance.ts'

/** Against crabline, an independent server for web sessions, which decrypts messages for their recipients. */

let directory: string
let server: Awaited<ReturnType<typeof startWhatsAppServer>>
let link: SessionLink
let io: ObservedSessionIo
const events: { type: string; body: unknown }[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'posthorn-crabline-'))
  server = await startWhatsAppServer({
    recorderPath: join(directory, 'recorder.jsonl'),
    onEvent: event => void events.push(event as (typeof events)[number]),
  })
  io = createSessionIo({ askedPhone: '+15550000000' })
  const { baileysWebSocketUrl: socketUrl } = server.manifest.endpoints
  // Crabline's server disconnects on a registration query; session.test.ts covers these with another server.
  link = await openWebSession(withWebDefaults({ socketUrl, checkRecipients: false }), io)
  await io.said('open')
})
afterAll(async () => {
  await link.close()
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

async function write(body: object): Promise<void> {
  const { adminInboundUrl } = server.manifest.endpoints
  const answer = await fetch(adminInboundUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.manifest.adminToken}` },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
}

test('a session opens and reports its phone number', () => {
  expect(io.news).toEqual([{ state: 'connecting' }, { state: 'open', phone: '+15550000000', pushName: null }])
})

test('a sent message is decrypted by its recipient', async () => {
  const message = outgoing(1, { channel: 'user_chatapp_session', to: '+12025550123', text: 'Good morning' })
  expect(await link.send(message, never())).toMatchObject({ kind: 'accepted' })
  const opened = events.map(({ body }) => body as { message?: { conversation?: string } })
  expect(opened.some(body => body.message?.conversation === 'Good morning')).toBe(true)
})

test('a message from a person and one from a group are emitted', async () => {
  const ada = '12025550123@s.whatsapp.net'
  await write({ chatJid: ada, senderJid: ada, text: 'hi there', pushName: 'Ada' })
  await write({ chatJid: '120363020000000099@g.us', senderJid: ada, text: 'hi all' })
  await io.emitted(2)
  const [direct, group] = io.inbound as InboundMessage[]
  expect(direct).toMatchObject({
    channel: 'user_chatapp_session',
    accountId: io.accountId,
    from: '+12025550123',
    to: 'front-desk',
    text: 'hi there',
    contact: { name: 'Ada' },
  })
  expect(direct?.chatId).toBeUndefined()
  expect(group).toMatchObject({ from: '+12025550123', chatId: '120363020000000099@g.us', text: 'hi all' })
  expect(io.chatsTold.map(({ chatId, kind, name }) => ({ chatId, kind, name }))).toEqual([
    { chatId: '+12025550123', kind: 'user', name: 'Ada' },
    { chatId: '120363020000000099@g.us', kind: 'group', name: null },
  ])
})

test('a voice message is emitted without a text', async () => {
  const ada = '12025550123@s.whatsapp.net'
  const before = io.inbound.length
  await write({
    chatJid: ada,
    senderJid: ada,
    audio: { contentBase64: Buffer.from('sound').toString('base64'), mimeType: 'audio/ogg', ptt: true },
  })
  await io.emitted(3)
  expect(io.inbound[before]).toMatchObject({
    text: null,
    media: [{ type: 'audio', mimetype: 'audio/ogg', sizeBytes: 5 }],
  })
})

test('the same device connects again with its stored keys', async () => {
  const again = createSessionIo({ askedPhone: '+15550000000', pairedAtMs: 0, known: io.known })
  const { baileysWebSocketUrl: socketUrl } = server.manifest.endpoints
  const second = await openWebSession(withWebDefaults({ socketUrl, checkRecipients: false }), again)
  await again.said('open')
  const message = outgoing(2, { channel: 'user_chatapp_session', to: '+12025550123', text: 'From elsewhere' })
  expect(await second.send(message, never())).toMatchObject({ kind: 'accepted' })
  await second.close()
})

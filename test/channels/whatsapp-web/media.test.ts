import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FileUnavailable, type OutgoingFile } from '../../../src/channels/provider.ts'
import type { SessionLink } from '../../../src/channels/shared/session.ts'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { openWebSession } from '../../../src/channels/whatsapp-web/session.ts'
import { createCertificate } from '../../support/certificate.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { createSessionIo } from '../../support/web-session-io.ts'
import { never, outgoing } from '../conformance.ts'

/** Files go to media servers of their own, over TLS: crabline's server has none. */

let server: ChatappServer
let link: SessionLink

beforeAll(async () => {
  const certificate = createCertificate(['localhost'])
  server = await startChatappServer({}, certificate)
  const io = createSessionIo({ pairedAtMs: 0 })
  link = await openWebSession(withWebDefaults({ socketUrl: server.url, tlsCa: certificate.cert }), io)
  await io.said('open')
})
afterAll(async () => {
  await link.close()
  await server.close()
})

const file = (more: Partial<OutgoingFile>): OutgoingFile => ({
  type: 'image',
  mimetype: 'image/jpeg',
  fileName: 'parcel.jpg',
  open: async () => Readable.from([Buffer.alloc(1_000, 7)]),
  ...more,
})

let nth = 0
const send = (given: OutgoingFile) =>
  link.send(
    outgoing(++nth, { channel: 'user_chatapp_session', to: '+12025550123', text: 'Look', files: [given] }),
    never(),
  )

test.each([
  ['image', 'image/jpeg', '/mms/image/'],
  ['video', 'video/mp4', '/mms/video/'],
  ['audio', 'audio/mpeg', '/mms/audio/'],
  ['document', 'application/pdf', '/mms/document/'],
] as const)('%s: put on the media server sealed, then sent', async (type, mimetype, path) => {
  const before = server.uploads.length
  expect(await send(file({ type, mimetype }))).toMatchObject({ kind: 'accepted' })
  const upload = server.uploads[before]!
  expect(upload.path).toContain(path)
  // Padded to a block, and ten bytes that prove it.
  expect(upload.size).toBe(1_008 + 10)
  const message = server.received.findLast(node => node.tag === 'message')
  expect(JSON.stringify(message)).toContain(`"mediatype":"${type}"`)
})

test.each([
  ['is too large by what is known', { sizeBytes: 17 * 1024 * 1024 }],
  [
    'turns out too large',
    { open: async () => Readable.from(Array.from({ length: 18 }, () => Buffer.alloc(1024 * 1024))) },
  ],
  ['cannot be had any more', { open: () => Promise.reject(new FileUnavailable('gone', false)) }],
])('a file that %s is refused, and nothing is sent', async (_, more) => {
  const before = server.received.filter(node => node.tag === 'message').length
  expect(await send(file(more))).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
  expect(server.received.filter(node => node.tag === 'message')).toHaveLength(before)
})

test('a file that may be had later is tried again', async () => {
  const open = () => Promise.reject(new FileUnavailable('busy', true))
  expect(await send(file({ open }))).toMatchObject({ kind: 'retry' })
})

import { createCipheriv, createHash, createHmac } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { getMediaKeys } from 'baileys'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FileUnavailable, type OutgoingFile } from '../../../src/channels/provider.ts'
import type { SessionLink } from '../../../src/channels/shared/session.ts'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { openMediaOf } from '../../../src/channels/whatsapp-web/media.ts'
import { openWebSession } from '../../../src/channels/whatsapp-web/session.ts'
import { createCertificate } from '../../support/certificate.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { lookUntil } from '../../support/look-until.ts'
import { createSessionIo } from '../../support/web-session-io.ts'
import { never, outgoing } from '../conformance.ts'

/** Files go to separate media servers over TLS, which crabline's server lacks. */

const certificate = createCertificate(['localhost'])
let server: ChatappServer
let link: SessionLink
/** The directory of temporary files during an upload. It must be empty after each test. */
let uploadDirectory: string
const { TMPDIR } = process.env

beforeAll(async () => {
  uploadDirectory = await mkdtemp(join(tmpdir(), 'posthorn-on-the-way-'))
  process.env['TMPDIR'] = uploadDirectory
  server = await startChatappServer({}, certificate)
  const io = createSessionIo({ pairedAtMs: 0 })
  link = await openWebSession(withWebDefaults({ socketUrl: server.url, tlsCa: certificate.cert }), io)
  await io.said('open')
})
afterAll(async () => {
  await link.close()
  await server.close()
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
  await rm(uploadDirectory, { recursive: true })
})
afterEach(async () => {
  server.set({ media: 'take', mediaHosts: [new URL(server.url).host] })
  await lookUntil(
    () => readdir(uploadDirectory),
    left => left.length === 0,
    5_000,
  )
})

const file = (more: Partial<OutgoingFile>): OutgoingFile => ({
  type: 'image',
  mimetype: 'image/jpeg',
  fileName: 'parcel.jpg',
  open: async () => Readable.from([Buffer.alloc(1_000, 7)]),
  ...more,
})

let nth = 0
function send(given: OutgoingFile, signal = never()) {
  // Audio has no caption.
  const text = given.type === 'audio' ? '' : 'Look'
  return link.send(
    outgoing(++nth, { channel: 'user_chatapp_session', to: '+12025550123', text, files: [given] }),
    signal,
  )
}
const messagesSent = () => server.received.filter(node => node.tag === 'message').length

test.each([
  ['image', 'image/jpeg', '/mms/image/'],
  ['video', 'video/mp4', '/mms/video/'],
  ['audio', 'audio/mpeg', '/mms/audio/'],
  ['document', 'application/pdf', '/mms/document/'],
] as const)('%s is uploaded encrypted to the media server, then sent', async (type, mimetype, path) => {
  const before = server.uploads.length
  expect(await send(file({ type, mimetype }))).toMatchObject({ kind: 'accepted' })
  const upload = server.uploads[before]!
  expect(upload.path).toContain(path)
  // Padded to a full block, plus a MAC of ten bytes.
  expect(upload.bytes).toHaveLength(1_008 + 10)
  expect(upload.path).toContain(`/${createHash('sha256').update(upload.bytes).digest('base64url')}?`)
  const message = server.received.findLast(node => node.tag === 'message')
  expect(JSON.stringify(message)).toContain(`"mediatype":"${type}"`)
})

test.each([
  ['has a stated size over the limit', { sizeBytes: 17 * 1024 * 1024 }],
  [
    'exceeds the limit while it is read',
    { open: async () => Readable.from(Array.from({ length: 18 }, () => Buffer.alloc(1024 * 1024))) },
  ],
  ['is permanently unavailable', { open: () => Promise.reject(new FileUnavailable('gone', false)) }],
])('a file that %s is rejected, and no message is sent', async (_, more) => {
  const before = server.received.filter(node => node.tag === 'message').length
  expect(await send(file(more))).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
  expect(server.received.filter(node => node.tag === 'message')).toHaveLength(before)
})

test('a file that never arrives ends in retry when the signal aborts', async () => {
  const asked = Promise.withResolvers<void>()
  const source = new Readable({ read: () => asked.resolve() })
  const deadline = new AbortController()
  const sent = send(file({ open: async () => source }), deadline.signal)
  await asked.promise
  deadline.abort()
  expect(await sent).toMatchObject({ kind: 'retry' })
  if (!source.closed) await new Promise(resolve => source.once('close', resolve))
})

test.each([0, 1, 100_000])('a file that fails after %i bytes ends in retry', async bytes => {
  async function* failing() {
    if (bytes > 0) yield Buffer.alloc(bytes)
    throw new Error('ECONNRESET')
  }
  for (const type of ['image', 'audio'] as const) {
    expect(await send(file({ type, open: async () => Readable.from(failing()) }))).toMatchObject({
      kind: 'retry',
      detail: 'ECONNRESET',
    })
  }
})

test.each(['refuse', 'cut'] as const)(
  'an upload that fails at the media server (%s) ends in retry, and the next one succeeds',
  async media => {
    server.set({ media })
    const before = messagesSent()
    expect(await send(file({}))).toMatchObject({ kind: 'retry' })
    expect(messagesSent()).toBe(before)
    server.set({ media: 'take' })
    expect(await send(file({}))).toMatchObject({ kind: 'accepted' })
  },
)

test.each(['refuse', 'cut'] as const)(
  'when an upload fails at one media server (%s), another one gets the whole file',
  async media => {
    const one = await startChatappServer({ media }, certificate)
    server.set({ media: 'refuse' })
    await send(file({}))
    server.set({ media: 'take', mediaHosts: [one, server].map(({ url }) => new URL(url).host) })
    expect(await send(file({ type: 'audio', mimetype: 'audio/mpeg' }))).toMatchObject({ kind: 'accepted' })
    expect(server.uploads.at(-1)).toEqual(one.uploads.at(-1))
    await one.close()
  },
)

test('an upload without a response ends in retry when the signal aborts, without a temporary file', async () => {
  server.set({ media: 'silent' })
  const deadline = new AbortController()
  const sent = send(file({}), deadline.signal)
  await server.uploaded(server.uploads.length + 1)
  expect(await readdir(uploadDirectory)).toEqual([])
  deadline.abort()
  expect(await sent).toMatchObject({ kind: 'retry' })
})

test('the media servers are requested again after WhatsApp returned none', async () => {
  server.set({ media: 'refuse' })
  await send(file({}))
  server.set({ media: 'take', mediaHosts: null })
  expect(await send(file({}))).toMatchObject({ kind: 'retry' })
  server.set({ mediaHosts: [new URL(server.url).host] })
  expect(await send(file({}))).toMatchObject({ kind: 'accepted' })
})

test('a file that is unavailable for now ends in retry', async () => {
  const open = () => Promise.reject(new FileUnavailable('busy', true))
  expect(await send(file({ open }))).toMatchObject({ kind: 'retry' })
})

describe('a file of an inbound message', () => {
  const key = Buffer.alloc(32, 3)
  const plain = Buffer.from('the ship '.repeat(5_000))
  const reference = (path = '/v/t62.7118-24/1?ccb=11') =>
    JSON.stringify({ as: 'image', path, key: key.toString('base64') })

  async function encrypted(): Promise<Buffer> {
    const { iv, cipherKey, macKey } = await getMediaKeys(key, 'image')
    const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
    const text = Buffer.concat([cipher.update(plain), cipher.final()])
    const proof = createHmac('sha256', macKey!).update(iv).update(text).digest().subarray(0, 10)
    return Buffer.concat([text, proof])
  }

  const read = async (chunks: Iterable<Buffer> | AsyncIterable<Buffer>, path?: string) => {
    const asked: string[] = []
    const download = async (url: URL) => {
      asked.push(url.href)
      return Readable.from(chunks)
    }
    const bytes = await openMediaOf({ getMediaKeys }, reference(path), download, never())
    return { asked, bytes: await buffer(bytes) }
  }

  test('is decrypted, whatever chunks it arrives in', async () => {
    const all = await encrypted()
    const pieces = [0, 1, 17, 5_000, all.length - 3, all.length]
    const chunks = pieces.slice(1).map((end, at) => all.subarray(pieces[at], end))
    const { asked, bytes } = await read(chunks)
    expect(bytes.equals(plain)).toBe(true)
    expect(asked).toEqual(['https://mmg.whatsapp.net/v/t62.7118-24/1?ccb=11'])
  })

  test('fails when it is truncated, altered or on another host', async () => {
    const all = await encrypted()
    async function* cut() {
      yield all.subarray(0, 1_000)
      throw new Error('ECONNRESET')
    }
    await expect(read(cut())).rejects.toThrow('ECONNRESET')
    await expect(read([all.subarray(0, 4_096)])).rejects.toThrow('incomplete')
    const changed = Buffer.from(all)
    changed[20]! ^= 1
    await expect(read([changed])).rejects.toThrow('altered')
    await expect(read([all], '//evil.example/x')).rejects.toThrow(FileUnavailable)
  })
})

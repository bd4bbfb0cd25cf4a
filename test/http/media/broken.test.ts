import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FileStoreUnavailable } from '../../../src/infra/file-store.ts'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { jpeg, pdf, png } from '../../support/files.ts'
import { form } from '../../support/form.ts'
import { mediaLeft, upload, uploadFile } from '../../support/media.ts'

const PATH = '/api/v2/templates/media'
const NOTHING = { rows: [], files: [] }

describe('a failed upload', () => {
  let app: TestApp
  let account: TestAccount
  const sockets: Socket[] = []

  beforeAll(async () => {
    app = await startTestApp()
    account = await app.createAccount()
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  afterAll(() => app.stop())

  /** Starts an upload request, whose body the test writes itself. */
  async function begin(headers: Record<string, string>, path = PATH): Promise<Socket> {
    const { port, hostname } = new URL(app.url)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    sockets.push(socket)
    await once(socket, 'connect')
    const lines = Object.entries({ host: 'test', 'x-api-key': account.testKey, ...headers })
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    return socket
  }

  const stored = (holds: (left: { rows: string[]; files: string[] }) => boolean) =>
    app.until(() => mediaLeft(app), holds)

  it('leaves nothing stored when the connection is cut in the middle of the file', async () => {
    const { body, type } = form([{ name: 'file', bytes: pdf(5_000_000), type: 'application/pdf' }])
    const socket = await begin({ 'content-type': type, 'content-length': String(body.length) })
    socket.write(body.subarray(0, 3_000_000))
    const under = await stored(({ files }) => files.length > 0)
    expect(under.rows).toEqual(['storing'])
    socket.destroy()
    expect(await stored(({ rows, files }) => rows.length + files.length === 0)).toEqual(NOTHING)
  })

  it('returns 400 and leaves nothing stored for an incomplete form', async () => {
    const { body, type } = form([{ name: 'file', bytes: jpeg(200_000), type: 'image/jpeg' }])
    for (const cut of [body.length - 4, body.length - 100, 1_000, 20]) {
      const answer = await app.call(PATH, {
        method: 'POST',
        key: account.testKey,
        body: body.subarray(0, cut),
        headers: { 'content-type': type },
      })
      expect([answer.status, answer.body['code']], `${cut} bytes`).toEqual([400, 'VALIDATION_ERROR'])
      expect(await mediaLeft(app)).toEqual(NOTHING)
    }
  })

  it.each<[string, string]>([
    ['another boundary', 'multipart/form-data; boundary=another'],
    ['no boundary', 'multipart/form-data'],
  ])('returns 400 for a content type with %s', async (_, type) => {
    const { body } = form([{ name: 'file', bytes: png() }])
    const answer = await app.call(PATH, {
      method: 'POST',
      key: account.testKey,
      body,
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(400)
    expect(await mediaLeft(app)).toEqual(NOTHING)
  })

  it.each([
    ['JSON', 'application/json', '{"file":"x"}'],
    ['an image outside a form', 'image/png', png()],
    ['a URL-encoded form', 'application/x-www-form-urlencoded', 'file=x'],
  ])('returns 415 when sent as %s', async (_, type, body) => {
    const answer = await app.call(PATH, {
      method: 'POST',
      key: account.testKey,
      body,
      headers: { 'content-type': type },
    })
    expect([answer.status, answer.body['code'], answer.body['details']]).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      [{ path: 'Content-Type', message: 'must be multipart/form-data' }],
    ])
  })

  it('returns 415 without a body, and with a Content-Encoding', async () => {
    const empty = await app.call(PATH, { method: 'POST', key: account.testKey })
    expect(empty.status).toBe(415)
    const { body, type } = form([{ name: 'file', bytes: png() }])
    const headers = { 'content-type': type, 'content-encoding': 'gzip' }
    const packed = await app.call(PATH, { method: 'POST', key: account.testKey, body, headers })
    expect([packed.status, faultPaths(packed)]).toEqual([415, ['Content-Encoding']])
  })

  it('is rejected beyond the limits of parts, text size and field names', async () => {
    const many = Array.from({ length: 101 }, (_, at) => ({ name: `a${at}`, text: 'x' }))
    expect((await upload(app, account.testKey, many)).status).toBe(400)
    const long = [
      { name: 'a', text: 'x'.repeat(600_000) },
      { name: 'b', text: 'x'.repeat(600_000) },
    ]
    const answer = await upload(app, account.testKey, long)
    expect([answer.status, faultPaths(answer)]).toEqual([413, ['b']])
    expect((await upload(app, account.testKey, [{ name: 'n'.repeat(201), text: 'x' }])).status).toBe(400)
    expect((await upload(app, account.testKey, [{ name: '__proto__', text: 'x' }])).status).toBe(400)
    expect(await mediaLeft(app)).toEqual(NOTHING)
  })

  it.each([
    ['Latin-1 without a declared charset', null, 'latin1'],
    ['Latin-1 declared as UTF-8', 'text/plain; charset=utf-8', 'latin1'],
    ['Latin-1 declared as UTF-16', 'text/plain; charset=utf-16le', 'latin1'],
  ] as const)('is rejected for a text field that is not UTF-8: %s', async (_, type, encoding) => {
    const parts = [
      { name: 'name', text: 'greeting' },
      { name: 'category', text: 'sms' },
      { name: 'subType', text: 'utility' },
      { name: 'content', bytes: Buffer.from('Grüße', encoding), fileName: null, type },
    ]
    const { body, type: contentType } = form(parts)
    const answer = await app.call('/api/v2/templates', {
      method: 'POST',
      key: account.testKey,
      body,
      headers: { 'content-type': contentType },
    })
    expect([answer.status, faultPaths(answer)]).toEqual([400, ['content']])
    expect(answer.text).toContain('must be text in UTF-8')
  })

  it('deletes the file again when a later part of the form is invalid', async () => {
    const answer = await upload(app, account.testKey, [
      { name: 'file', bytes: png(), type: 'image/png' },
      { name: 'photo', bytes: png(), type: 'image/png' },
    ])
    expect([answer.status, faultPaths(answer)]).toEqual([400, ['photo']])
    expect(await mediaLeft(app)).toEqual(NOTHING)
  })

  it('gets its response at the first invalid bytes, and the connection stays usable', async () => {
    const { body, type } = form([{ name: 'file', bytes: Buffer.alloc(3_000_000, 1), type: 'image/png' }])
    const socket = await begin({ 'content-type': type, 'content-length': String(body.length) })
    socket.write(body.subarray(0, 1_000_000))
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toMatch(/^HTTP\/1\.1 400 /)
    expect(first.toString()).not.toMatch(/connection: close/i)
    socket.write(body.subarray(1_000_000))
    socket.write(`GET ${PATH}/ast_x HTTP/1.1\r\nhost: test\r\nx-api-key: ${account.testKey}\r\n\r\n`)
    const [second] = (await once(socket, 'data')) as [Buffer]
    expect(second.toString()).toMatch(/^HTTP\/1\.1 404 /)
  })

  it.each([PATH, '/api/v2/messages/send'])(
    'to %s is read to its end after its response, also if its connection then closes',
    async path => {
      const { body, type } = form([{ name: 'other', bytes: pdf(9_000_000), type: 'application/pdf' }])
      const headers = { connection: 'close', 'content-type': type, 'content-length': String(body.length) }
      const socket = await begin(headers, path)
      const closed = once(socket, 'close')
      const received = text(socket)
      socket.write(body.subarray(0, 1_000))
      expect(await received).toMatch(/^HTTP\/1\.1 400 .*other: must not be a file/s)
      socket.end(body.subarray(1_000))
      expect(await closed).toEqual([false])
    },
  )

  it('returns 401 for an invalid key, and 403 for one without the permission, before the body arrives', async () => {
    const wanted = { name: 'Reader', mode: 'test', role: 'member', permissions: ['messages:read'] }
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, wanted)
    const { apiKey } = made.body['data'] as { apiKey: string }
    const { body, type } = form([{ name: 'file', bytes: png() }])
    const sized = { 'content-type': type, 'content-length': String(body.length) }
    for (const [key, status] of [
      ['ph_test_none', 401],
      [apiKey, 403],
    ] as const) {
      const socket = await begin({ ...sized, 'x-api-key': key })
      const [first] = (await once(socket, 'data')) as [Buffer]
      expect(first.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    }
    expect(await mediaLeft(app)).toEqual(NOTHING)
  })

  it('returns 413 for a declared length above that of any allowed file, before the body arrives', async () => {
    const { type } = form([])
    const socket = await begin({ 'content-type': type, 'content-length': String(110 * 1024 * 1024) })
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toMatch(/^HTTP\/1\.1 413 /)
    expect(await mediaLeft(app)).toEqual(NOTHING)
  })
})

describe('a file store that fails', () => {
  it.each(['at once', 'in the middle'])('returns 503 for an upload and stores nothing: %s', async when => {
    const removed: string[] = []
    const app = await startTestApp({
      files: {
        async write(_, bytes) {
          if (when === 'at once') throw new FileStoreUnavailable(new Error('ENOSPC: no space left on device'))
          for await (const _ of bytes)
            throw new FileStoreUnavailable(new Error('ENOSPC: no space left on device'))
        },
        read: () => Promise.resolve(Readable.from([])),
        remove: key => Promise.resolve(void removed.push(key)),
      },
    })
    try {
      const account = await app.createAccount()
      const bytes = jpeg(500_000)
      const answer = await upload(app, account.testKey, [{ name: 'file', bytes, type: 'image/jpeg' }])
      expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(answer.text).not.toContain('ENOSPC')
      expect((await mediaLeft(app)).rows).toEqual([])
      expect(removed).toHaveLength(1)
    } finally {
      await app.stop()
    }
  })

  it('returns 503 as JSON for a preview when the file cannot be read', async () => {
    const app = await startTestApp({
      files: {
        async write(_, bytes) {
          for await (const _ of bytes);
        },
        read: () => Promise.reject(new FileStoreUnavailable(new Error('connection refused'))),
        remove: () => Promise.resolve(),
      },
    })
    try {
      const account = await app.createAccount()
      const { previewUrl } = await uploadFile(app, account.testKey, png())
      const answer = await app.call(previewUrl)
      expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.headers.get('content-disposition')).toBeNull()
    } finally {
      await app.stop()
    }
  })

  it.each<[string, () => Readable]>([
    ['breaks the connection', () => new Readable({ read: brokenOff })],
    ['ends', () => Readable.from([])],
  ])('returns 503 as JSON for a preview when the file store %s before the first byte', async (_, body) => {
    const app = await startTestApp({
      files: {
        async write(_, bytes) {
          for await (const _ of bytes);
        },
        read: () => Promise.resolve(body()),
        remove: () => Promise.resolve(),
      },
    })
    try {
      const account = await app.createAccount()
      const { previewUrl } = await uploadFile(app, account.testKey, png())
      for (const range of ['bytes=0-3', 'bytes=0-']) {
        const answer = await app.call(previewUrl, { headers: { range } })
        expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
        const ofTheFile = ['etag', 'cache-control', 'content-range', 'content-disposition']
        expect(ofTheFile.filter(name => answer.headers.has(name))).toEqual([])
      }
    } finally {
      await app.stop()
    }
  })

  it('is not waited for by a stop, if it does not respond to the sweep of unused files', async () => {
    const asked = Promise.withResolvers<void>()
    const app = await startTestApp({
      env: { POSTHORN_MEDIA_KEEP_HOURS: '1' },
      files: {
        async write(_, bytes) {
          for await (const _ of bytes);
        },
        read: () => Promise.resolve(Readable.from([])),
        remove() {
          asked.resolve()
          return new Promise(() => {})
        },
      },
    })
    const account = await app.createAccount()
    await uploadFile(app, account.testKey, png())
    await app.leap(2 * 3_600_000)
    await asked.promise
    await app.stop()
  })

  it('sends no bytes beyond the length of a file, which could pass for the next response', async () => {
    const more = Buffer.from('HTTP/1.1 200 OK\r\n\r\n')
    const app = await startTestApp({
      files: {
        async write(_, bytes) {
          for await (const _ of bytes);
        },
        read: () => Promise.resolve(Readable.from([png(), more])),
        remove: () => Promise.resolve(),
      },
    })
    try {
      const account = await app.createAccount()
      const { previewUrl } = await uploadFile(app, account.testKey, png())
      const { hostname, port, pathname, search } = new URL(previewUrl, app.url)
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n`)
      const got: Buffer[] = []
      socket.on('data', chunk => got.push(chunk))
      await once(socket, 'close')
      expect(Buffer.concat(got).toString('latin1')).not.toContain(more.toString('latin1'))
    } finally {
      await app.stop()
    }
  })
})

/** As the body of an HTTP response whose connection is reset. */
function brokenOff(this: Readable): void {
  this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
}

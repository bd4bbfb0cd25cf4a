import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import Type from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineRoute } from '../../../src/http/route.ts'
import { demoRoutes } from './demo.ts'
import { type Answer, caller, type Frame, KEY, keysOf, sendRaw, startFrame } from './frame.ts'

const MB = 1_048_576
/** The size limit of `/demo/large`; one account may send five such bodies at once, all accounts together ten. */
const MOST = 24 * MB
const OTHER = 'ph_test_other'
const THIRD = 'ph_test_third'
const keys = keysOf({
  [KEY]: caller(),
  [OTHER]: caller({ account: { id: 'acc_00000000000000000000000002' } }),
  [THIRD]: caller({ account: { id: 'acc_00000000000000000000000003' } }),
})

/** A route whose handler finishes when the test calls `open`. */
const slow = () => {
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const route = defineRoute({
    method: 'POST',
    url: '/demo/slow',
    auth: {},
    bodyLimit: MOST,
    schema: {
      summary: 'Take long',
      tags: ['Demo'],
      body: Type.Object({ base64: Type.String() }),
      response: { 200: Type.Object({ size: Type.Integer() }) },
    },
    async handler(request) {
      started.resolve()
      await gate.promise
      return { size: request.body.base64.length }
    },
  })
  return { route, started: started.promise, open: gate.resolve }
}

/** Accepts a file, which is passed on as it arrives. */
const upload = defineRoute({
  method: 'POST',
  url: '/demo/file',
  auth: {},
  form: { files: ['file'], isFormRequired: true },
  schema: { summary: 'Upload', tags: ['Demo'], response: { 200: Type.Object({}) } },
  handler: () => ({}),
})

let frame: Frame
let handler: ReturnType<typeof slow>
const sockets: Socket[] = []
beforeEach(async () => {
  handler = slow()
  frame = await startFrame({ keys, routes: [...demoRoutes(), handler.route] })
})
afterEach(() => {
  handler.open()
  for (const socket of sockets.splice(0)) socket.destroy()
  return frame.close()
})

const head = (key: string, more: string, path = '/demo/large', type = 'application/json') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: ${type}\r\n${more}\r\n\r\n`

/** Starts a request with the beginning of its body; `closed` settles when the server is done with it. */
async function begin(bytes: string): Promise<{ socket: Socket; closed: Promise<void> }> {
  const read = Promise.withResolvers<IncomingMessage>()
  frame.app.server.once('request', read.resolve)
  const socket = connect(frame.port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  socket.write(bytes)
  const request = await read.promise
  return { socket, closed: new Promise(resolve => request.once('close', () => resolve())) }
}

async function fill(key: string, count = 5) {
  const begun = []
  for (let nth = 0; nth < count; nth++)
    begun.push(await begin(`${head(key, `Content-Length: ${MOST}`)}{"base64":"`))
  return begun
}

const send = (key: string, bytes: number): Promise<Answer> =>
  frame.call('POST', '/demo/large', { key, body: { base64: 'x'.repeat(bytes) } })
const statusOf = async (key: string, bytes: number) => (await send(key, bytes)).status

describe('large bodies', () => {
  it('are rejected with 503 while too many are being received, and small ones are accepted', async () => {
    await fill(KEY)
    const refused = await send(KEY, 9 * MB)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(refused.body).toMatchObject({
      success: false,
      code: 'SERVICE_UNAVAILABLE',
      error: 'Too many large requests are being received at the same time.',
      retryAfterSeconds: 5,
    })
    expect([await statusOf(KEY, 60_000), await statusOf(KEY, 7 * MB)]).toEqual([200, 200])
  })

  it('of one account leave room for other accounts, up to a limit for all together', async () => {
    await fill(KEY)
    expect(await statusOf(OTHER, 20 * MB)).toBe(200)
    await fill(OTHER)
    expect(await statusOf(THIRD, 20 * MB)).toBe(503)
    expect([await statusOf(THIRD, 60_000), await statusOf(THIRD, 10 * MB)]).toEqual([200, 200])
  })

  it('that are rejected leave the connection usable', async () => {
    await fill(KEY)
    const body = `{"base64":"${'x'.repeat(9 * MB)}"}`
    const next = `GET /demo/items HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`
    const declared = `${head(KEY, `Content-Length: ${body.length}`)}${body}`
    const answer = await sendRaw(frame.port, declared + next)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200'])
  })

  it('of undeclared length count as they arrive', async () => {
    await fill(KEY)
    const chunked = (bytes: number, type?: string) => {
      const body = `{"base64":"${'x'.repeat(bytes)}"}`
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      return `${head(KEY, 'Transfer-Encoding: chunked', '/demo/large', type)}${chunk}`
    }
    const next = `GET /demo/items HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`
    const statuses = async (bytes: string) =>
      (await sendRaw(frame.port, bytes + next)).match(/HTTP\/1\.1 \d+/g)
    expect(await statuses(chunked(9 * MB))).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200'])
    expect(await statuses(chunked(60_000))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    expect(await statuses(chunked(7 * MB))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    expect(await statuses(chunked(MOST))).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200'])
    expect(await statuses(chunked(9 * MB, 'text/plain'))).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200'])
  })

  it('that are incomplete count until they are cut off or complete', async () => {
    const begun = await fill(KEY)
    expect(await statusOf(KEY, 20 * MB)).toBe(503)
    begun[0]!.socket.destroy()
    await begun[0]!.closed
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
    begun[1]!.socket.write('x'.repeat(MOST))
    await begun[1]!.closed
    expect(await statusOf(KEY, 24 * MB - 100)).toBe(200)
  })

  it('pipelined behind another request stop counting when their connection is cut', async () => {
    const small = `${head(KEY, 'Content-Length: 13', '/demo/slow')}{"base64":""}`
    const lines = []
    for (let nth = 0; nth < 5; nth++) {
      const { socket } = await begin(small)
      const second = Promise.withResolvers<IncomingMessage>()
      frame.app.server.once('request', second.resolve)
      socket.write(`${head(KEY, `Content-Length: ${MOST}`)}{`)
      const request = await second.promise
      lines.push({ socket, closed: new Promise(resolve => request.once('close', resolve)) })
    }
    expect(await statusOf(KEY, 20 * MB)).toBe(503)
    for (const { socket } of lines) socket.destroy()
    await Promise.all(lines.map(({ closed }) => closed))
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
  })

  it('rejected for another reason stop counting, although the rest may still arrive', async () => {
    for (let nth = 0; nth < 5; nth++) {
      const { closed } = await begin(`${head(KEY, 'Content-Length: 10000000')}${'x'.repeat(10_000_000)}`)
      await closed
      for (const [bytes, type] of [
        [20 * MB, 'text/plain'],
        [40 * MB, 'application/json'],
      ] as const) {
        const { socket } = await begin(`${head(KEY, `Content-Length: ${bytes}`, '/demo/large', type)}x`)
        await once(socket, 'data')
      }
    }
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
  })

  it('count until their handler finishes, even after the client disconnects', async () => {
    const body = `{"base64":"${'x'.repeat(20 * MB)}"}`
    const { socket, closed } = await begin(
      `${head(KEY, `Content-Length: ${body.length}`, '/demo/slow')}${body}`,
    )
    await handler.started
    socket.destroy()
    await closed
    await fill(KEY, 4)
    expect(await statusOf(KEY, 20 * MB)).toBe(503)
    handler.open()
    // Lets the callbacks after the end of the response run.
    await new Promise(setImmediate)
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
  })
})

describe('files in forms', () => {
  const type = 'multipart/form-data; boundary=x'

  /** The status of an upload while six others are being received. */
  async function statusBeside(fileBytes: number): Promise<number> {
    await frame.close()
    frame = await startFrame({ keys, routes: [upload], fileBytes })
    for (let nth = 0; nth < 6; nth++) await begin(head(KEY, `Content-Length: ${60 * MB}`, '/demo/file', type))
    const body = new Uint8Array(5 * MB)
    return (await frame.call('POST', '/demo/file', { body, headers: { 'content-type': type } })).status
  }

  it('count by the bytes that the file store keeps in memory', async () => {
    expect(await statusBeside(20 * MB)).toBe(503)
    // Without bytes in memory there is room; the 400 is for a body that is not a valid form.
    expect(await statusBeside(0)).toBe(400)
  })
})

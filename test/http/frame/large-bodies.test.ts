import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import Type from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineRoute } from '../../../src/http/route.ts'
import { demoRoutes } from './demo.ts'
import { type Answer, caller, type Frame, KEY, keysOf, sendRaw, startFrame } from './frame.ts'

const MB = 1_048_576
/** The most that `/demo/large` takes, of which one account has five at once, and all have ten. */
const MOST = 24 * MB
const OTHER = 'ph_test_other'
const THIRD = 'ph_test_third'
const keys = keysOf({
  [KEY]: caller(),
  [OTHER]: caller({ account: { id: 'acc_00000000000000000000000002' } }),
  [THIRD]: caller({ account: { id: 'acc_00000000000000000000000003' } }),
})

/** Settles when the test lets it. */
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

/** Takes a file, which goes on as it comes. */
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

/** A request whose head was read, and of whose body there is the beginning; `closed` when the server is through with it. */
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
  it('are refused before they are read where those that come in are too many, and small ones are not', async () => {
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

  it('of one account leave room for others, and those of all together have an end', async () => {
    await fill(KEY)
    expect(await statusOf(OTHER, 20 * MB)).toBe(200)
    await fill(OTHER)
    expect(await statusOf(THIRD, 20 * MB)).toBe(503)
    expect([await statusOf(THIRD, 60_000), await statusOf(THIRD, 10 * MB)]).toEqual([200, 200])
  })

  it('that are refused leave the connection as it was', async () => {
    await fill(KEY)
    const body = `{"base64":"${'x'.repeat(9 * MB)}"}`
    const next = `GET /demo/items HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`
    const declared = `${head(KEY, `Content-Length: ${body.length}`)}${body}`
    const answer = await sendRaw(frame.port, declared + next)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200'])
  })

  it('of which nobody said how long they are count as they come', async () => {
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

  it('that were half sent count until they come to their end', async () => {
    const begun = await fill(KEY)
    expect(await statusOf(KEY, 20 * MB)).toBe(503)
    begun[0]!.socket.destroy()
    await begun[0]!.closed
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
    begun[1]!.socket.write('x'.repeat(MOST))
    await begun[1]!.closed
    expect(await statusOf(KEY, 24 * MB - 100)).toBe(200)
  })

  it('behind another on a line that is cut count no longer either', async () => {
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

  it('that were refused for another reason count no longer, although their rest may yet come', async () => {
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

  it('count until they are answered, although whoever asked has gone', async () => {
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
    // What follows on the answer's own end.
    await new Promise(setImmediate)
    expect(await statusOf(KEY, 20 * MB)).toBe(200)
  })
})

describe('files in forms', () => {
  const type = 'multipart/form-data; boundary=x'

  /** What becomes of a form beside six that come in. */
  async function statusBeside(fileBytes: number): Promise<number> {
    await frame.close()
    frame = await startFrame({ keys, routes: [upload], fileBytes })
    for (let nth = 0; nth < 6; nth++) await begin(head(KEY, `Content-Length: ${60 * MB}`, '/demo/file', type))
    const body = new Uint8Array(5 * MB)
    return (await frame.call('POST', '/demo/file', { body, headers: { 'content-type': type } })).status
  }

  it('count by what the store has of them in memory', async () => {
    expect(await statusBeside(20 * MB)).toBe(503)
    // Where it has nothing, there is room; and this is no form.
    expect(await statusBeside(0)).toBe(400)
  })
})

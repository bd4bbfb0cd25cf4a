import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import Type from 'typebox'
import { afterEach, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import type { Keys, PeopleAccess } from '../../../src/http/auth.ts'
import { createEventStreams } from '../../../src/http/event-streams.ts'
import { defineRoute } from '../../../src/http/route.ts'
import { createFakeClock, turn } from '../../support/fake-clock.ts'
import { caller, type Frame, KEY, startFrame } from './frame.ts'

const REQUEST = `GET /demo/events HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n\r\n`

let frame: Frame
afterEach(() => frame.close())

/** A client, and a server with one path, whose streams have no events. `lookup` finds the caller of each request. */
async function startStreams(lookup: Keys['lookup']) {
  const clock = createFakeClock()
  const keys = { lookup }
  const { answer } = createEventStreams({ clock, keys, people: {} as PeopleAccess })
  const streams: AbortSignal[] = []
  const news = new EventEmitter()
  async function* silence(gone: AbortSignal): AsyncGenerator<string> {
    if (!gone.aborted) await once(gone, 'abort')
    yield ''
  }
  const route = defineRoute({
    method: 'GET',
    url: '/demo/events',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Follow',
      tags: ['Demo'],
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
    },
    handler: (request, reply) =>
      answer(request as never, reply, {
        permission: 'messages:read',
        follow(gone) {
          streams.push(gone)
          news.emit('stream')
          return silence(gone)
        },
        format: String,
      }),
  })
  frame = await startFrame({ routes: [route], keys, clock })
  const accepted = once(frame.app.server, 'connection') as Promise<[Socket]>
  const client = connect(frame.port, '127.0.0.1')
  client.on('error', () => {})
  const [socket] = await accepted

  return {
    clock,
    client,
    /** Whether each of the streams that were opened has ended, once there are so many. */
    async ended(count: number): Promise<boolean[]> {
      while (streams.length < count) await once(news, 'stream')
      return streams.map(({ aborted }) => aborted)
    },
    /** Resolves once the server has seen that the client has left. */
    async leave(): Promise<void> {
      const closed = once(socket, 'close')
      client.destroy()
      await closed
      await turn()
    },
  }
}

test('a stream ends at once, and its access is not checked any more, if the client left while its key was looked up', async () => {
  const { promise, resolve } = Promise.withResolvers<Caller>()
  const looked = Promise.withResolvers<void>()
  let lookups = 0
  const { clock, client, ended, leave } = await startStreams(() => {
    lookups++
    looked.resolve()
    return promise
  })
  client.write(REQUEST)
  await looked.promise
  await leave()
  resolve(caller())
  expect(await ended(1)).toEqual([true])
  await clock.advance(10_000)
  expect(lookups).toBe(1)
})

test('a stream ends with its connection, also one that is pipelined behind another', async () => {
  const { client, ended, leave } = await startStreams(() => caller())
  client.write(REQUEST + REQUEST)
  expect(await ended(2)).toEqual([false, false])
  await leave()
  expect(await ended(2)).toEqual([true, true])
})

test('a stream ends when its caller loses access', async () => {
  let known: Caller | null = caller()
  const { clock, client, ended } = await startStreams(() => known)
  client.write(REQUEST)
  expect(await ended(1)).toEqual([false])
  await clock.advance(1_000)
  expect(await ended(1)).toEqual([false])
  known = null
  await clock.advance(1_000)
  expect(await ended(1)).toEqual([true])
  client.destroy()
})

import { once } from 'node:events'
import { Readable } from 'node:stream'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { defineRoute } from '../../../src/http/route.ts'
import { startFrame } from './frame.ts'

const CHUNKS = 1_000
const CHUNK_BYTES = 1_000

test('a HEAD of a file has the headers of the GET, and does not read the file', async () => {
  let read = 0
  async function* readFile(): AsyncGenerator<Buffer> {
    for (; read < CHUNKS; read++) yield Buffer.alloc(CHUNK_BYTES)
  }
  const file = Readable.from(readFile(), { objectMode: false })
  const closed = once(file, 'close')
  const route = defineRoute({
    method: 'GET',
    url: '/demo/file',
    auth: { public: true },
    schema: {
      summary: 'Read a file',
      tags: ['Demo'],
      response: { 200: Type.String({ contentMediaType: '*/*' }) },
    },
    handler: (_request, reply) =>
      reply.headers({ 'Content-Type': 'image/png', 'Content-Length': CHUNKS * CHUNK_BYTES }).send(file),
  })
  const frame = await startFrame({ routes: [route] })
  try {
    const { status, headers } = await frame.call('HEAD', '/demo/file')
    expect([status, headers.get('content-length'), headers.get('content-type')]).toEqual([
      200,
      String(CHUNKS * CHUNK_BYTES),
      'image/png',
    ])
    await closed
    expect(read).toBeLessThan(CHUNKS)
  } finally {
    await frame.close()
  }
})

import { describe, expect, it } from 'vitest'
import { readEvents, type ServerEvent } from '../../console/src/api/events.ts'

async function read(pieces: readonly string[]): Promise<ServerEvent[]> {
  const bytes = pieces.map(piece => new TextEncoder().encode(piece))
  return Array.fromAsync(readEvents(ReadableStream.from(bytes) as ReadableStream<Uint8Array>))
}

describe('server-sent events', () => {
  it('come one by one, wherever the pieces are cut', async () => {
    const text = 'event: job\ndata: {"text":"größer"}\n\n: still here\n\ndata: one\ndata: two\n\n'
    const events = [
      { event: 'job', data: '{"text":"größer"}' },
      { event: 'message', data: 'one\ntwo' },
    ]
    expect(await read([text])).toEqual(events)
    expect(await read([...text])).toEqual(events)
    expect(await read([text.replaceAll('\n', '\r\n')])).toEqual(events)
  })

  it('are not believed half', async () => {
    expect(await read(['data: whole\n\ndata: ha'])).toEqual([{ event: 'message', data: 'whole' }])
  })

  it('have an end', async () => {
    await expect(read(Array.from({ length: 50 }, () => 'x'.repeat(100_000)))).rejects.toThrow(
      'without an end',
    )
  })
})

export type ServerEvent = { event: string; data: string }

/** The last `id` of a stream, after which it can continue; and when data last arrived. */
export type StreamPosition = { id: string; receivedAtMs: number }

/** The largest unfinished event that is held, in characters. */
const MAX_CHARACTERS = 4_000_000

/** Parses the events of a `text/event-stream` body as they arrive; keeps `place` up to date. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  place: StreamPosition = { id: '', receivedAtMs: 0 },
): AsyncGenerator<ServerEvent> {
  let rest = ''
  const text = body.pipeThrough(
    new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>,
  )
  for await (const piece of iterate(text)) {
    place.receivedAtMs = performance.now()
    const blocks = (rest + piece).split(/\r?\n\r?\n/)
    rest = blocks.pop()!
    if (rest.length > MAX_CHARACTERS) throw new Error('an event without an end')
    for (const block of blocks) {
      const event = parse(block, place)
      if (event) yield event
    }
  }
}

/** Streams are not iterable in every browser. */
async function* iterate<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Null for a comment, which only keeps the connection open. */
function parse(block: string, place: StreamPosition): ServerEvent | null {
  const data: string[] = []
  let event = 'message'
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('id:')) place.id = line.slice(3).trim()
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}

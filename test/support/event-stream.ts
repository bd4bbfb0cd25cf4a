import { readEvents, type ServerEvent, type StreamPosition } from '../../console/src/api/events.ts'

export type EventStream = {
  status: number
  headers: Headers
  /** The last id that was received, and when data last arrived. */
  place: StreamPosition
  /** The next event; null at the end. */
  next(): Promise<ServerEvent | null>
  /** The data of the next event of this kind for which it `holds`, parsed as JSON. Throws at the end. */
  nextOf<T>(kind: string, holds?: (data: T) => boolean): Promise<T>
  close(): void
}

/** Opens a stream of server-sent events, to be read one by one. */
export async function openStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const end = new AbortController()
  const response = await fetch(url, { headers, signal: end.signal })
  const place: StreamPosition = { id: '', receivedAtMs: 0 }
  const events = readEvents(response.body as ReadableStream<Uint8Array>, place)

  async function next(): Promise<ServerEvent | null> {
    const { done, value } = await events.next()
    return done ? null : value
  }

  return {
    status: response.status,
    headers: response.headers,
    place,
    next,
    async nextOf<T>(kind: string, holds: (data: T) => boolean = () => true) {
      for (let event = await next(); event; event = await next()) {
        if (event.event !== kind) continue
        const data = JSON.parse(event.data) as T
        if (holds(data)) return data
      }
      throw new Error(`the stream ended before a ${kind}`)
    },
    close: () => end.abort(),
  }
}

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Permission } from '../contract/enums.ts'
import type { ListEvent } from '../infra/list-events.ts'
import { type Clock, pauseUnlessAborted } from '../lib/clock.ts'
import { isStillAllowed, type Keys, type PeopleAccess } from './auth.ts'
import { abortWhenGone } from './client-gone.ts'

/** Responses with server-sent events. */
export type EventStreams = {
  /**
   * Sends the events of `follow`, each as `format` writes it, until they end, the client disconnects or stops reading,
   * or the caller loses access. An error that `follow` throws gets the usual error response.
   */
  answer<Event>(
    request: FastifyRequest,
    reply: FastifyReply,
    stream: EventStream<Event>,
  ): Promise<FastifyReply>
}

export type EventStream<Event> = {
  /** The permission that the caller needs during the whole stream. */
  permission: Permission
  follow(gone: AbortSignal): AsyncGenerator<Event> | Promise<AsyncGenerator<Event>>
  format(event: Event): string
}

export type EventStreamsDeps = { clock: Clock; keys: Keys; people: PeopleAccess }

/** How often a stream checks the key, session and permission of its caller, in ms. */
const ACCESS_CHECK_INTERVAL_MS = 1_000
/** A client that reads nothing for this long is disconnected, in ms. */
const STALLED_MS = 30_000

/** A heartbeat: a comment, which clients of event streams ignore. */
export const HEARTBEAT = ': still here\n\n'

/** Formats an event of a list; its id is where another stream can continue. */
export function formatListEvent<Item>(news: ListEvent<Item>): string {
  const id = `id: ${news.cursor}\n`
  switch (news.kind) {
    case 'message':
      return `${id}event: message\ndata: ${JSON.stringify(news.message)}\n\n`
    case 'reset':
      return `${id}event: reset\ndata: {}\n\n`
    case 'beat':
      return id + HEARTBEAT
  }
}

export function createEventStreams({ clock, keys, people }: EventStreamsDeps): EventStreams {
  /** Aborts `gone` when the caller has lost access; stops checking once it is aborted. */
  async function watchAccess(
    request: FastifyRequest,
    permission: Permission,
    gone: AbortController,
  ): Promise<void> {
    for (;;) {
      await pauseUnlessAborted(clock, ACCESS_CHECK_INTERVAL_MS, gone.signal)
      if (gone.signal.aborted) return
      if (!(await isStillAllowed(request, permission, keys, people))) gone.abort()
    }
  }

  /** Requests the next event only after this one was written. */
  async function* write<Event>(
    events: AsyncGenerator<Event>,
    format: (event: Event) => string,
    cut: () => void,
  ): AsyncGenerator<string> {
    for await (const event of events) {
      const cancel = clock.after(STALLED_MS, cut)
      try {
        yield format(event)
      } finally {
        cancel()
      }
    }
  }

  return {
    async answer(request, reply, { permission, follow, format }) {
      const gone = abortWhenGone(request, reply)
      const events = await follow(gone.signal)
      void watchAccess(request, permission, gone)
      reply.headers({
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        // A proxy that buffers responses would delay the events.
        'X-Accel-Buffering': 'no',
      })
      const text = write(events, format, () => reply.raw.destroy())
      return reply.send(Readable.from(text, { highWaterMark: 1 }))
    },
  }
}

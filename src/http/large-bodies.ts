import type { FastifyReply, FastifyRequest, preParsingHookHandler, RequestPayload } from 'fastify'
import { Problem } from '../contract/errors.ts'
import { discardRest } from './discard-rest.ts'
import { MAX_DISCARDED_BYTES } from './errors.ts'
import { MAX_TEXT_BYTES } from './multipart.ts'

/** Limits the memory of large bodies, which are in memory while they are received and processed. */
export type LargeBodies = {
  /** Reserves memory before the body is read; fails with SERVICE_UNAVAILABLE if the limit is reached. */
  admit(limitBytes: number): preParsingHookHandler
  /** Wraps a handler: the body counts until the handler is done, even if the client has disconnected. */
  track(handler: Handler): Handler
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** The memory that one request has reserved. */
type Share = {
  /** Changes the reservation to `bytes`; false if the limit is reached. */
  reserve(bytes: number): boolean
  release(): void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Settles when the handler of a large body is done; null for a small body. */
    largeBody: { done: Promise<unknown> } | null
  }
}

/** For all large bodies of this node, and of one account; requests without an account share one limit. */
const MAX_BYTES = 256 * 1024 * 1024
const MAX_BYTES_PER_ACCOUNT = 128 * 1024 * 1024
/** Smaller bodies are not counted. */
const SMALL_BYTES = 64 * 1024
/** About the time in which a large body is received and processed over a fast connection. */
const RETRY_AFTER_SECONDS = 5

/** `fileBytes`: most bytes of a form's file in memory while it is streamed to its store. */
export function createLargeBodies(fileBytes = 0): LargeBodies {
  const budget = createMemoryBudget()
  const mostOfForm = MAX_TEXT_BYTES + fileBytes

  function admit(limitBytes: number): preParsingHookHandler {
    return (request, reply, payload, done) => {
      const isForm = isFormBody(request)
      const bytes = Math.min(expectedBytes(request), isForm ? mostOfForm : UNKNOWN)
      // A body that declares more than its limit is refused unread by Fastify. For a form, `bytes` is not the length.
      const tooLarge = !isForm && bytes > limitBytes && bytes !== UNKNOWN
      if (bytes <= SMALL_BYTES || tooLarge) return done(null, payload)
      // The client has disconnected: no `close` event would release the memory.
      if (request.raw.destroyed) return done(null, payload)
      const share = budget.open(request.caller?.account.id ?? '')
      if (!share.reserve(bytes === UNKNOWN ? 0 : bytes)) return done(overloaded())
      const largeBody = { done: Promise.resolve<unknown>(null) }
      request.largeBody = largeBody
      const end = () => void largeBody.done.finally(share.release)
      // On whichever closes first: a pipelined response does not close if the connection is cut, and the body of
      // a refused request may still be arriving.
      request.raw.once('close', end)
      reply.raw.once('close', end)
      if (bytes === UNKNOWN) countBytes(payload, limitBytes, share)
      done(null, payload)
    }
  }

  function track(handler: Handler): Handler {
    return (request, reply) => {
      const { largeBody } = request
      return largeBody === null ? handler(request, reply) : trackUntilDone(largeBody, request, reply)
    }

    async function trackUntilDone(
      largeBody: NonNullable<FastifyRequest['largeBody']>,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<unknown> {
      const { promise, resolve } = Promise.withResolvers<void>()
      largeBody.done = promise
      try {
        return await handler(request, reply)
      } finally {
        resolve()
      }
    }
  }

  return { admit, track }
}

function createMemoryBudget() {
  const byOwner = new Map<string, number>()
  let all = 0

  function move(owner: string, bytes: number): void {
    const own = (byOwner.get(owner) ?? 0) + bytes
    all += bytes
    if (own === 0) byOwner.delete(owner)
    else byOwner.set(owner, own)
  }

  return {
    open(owner: string): Share {
      let held = 0
      return {
        reserve(bytes) {
          const more = bytes - held
          const own = (byOwner.get(owner) ?? 0) + more
          if (all + more > MAX_BYTES || own > MAX_BYTES_PER_ACCOUNT) return false
          move(owner, more)
          held = bytes
          return true
        },
        release() {
          move(owner, -held)
          held = 0
        },
      }
    },
  }
}

const UNKNOWN = Number.POSITIVE_INFINITY

function expectedBytes({ headers }: FastifyRequest): number {
  const declared = headers['content-length']
  if (declared === undefined && headers['transfer-encoding'] === undefined) return 0
  return declared === undefined ? UNKNOWN : Number(declared)
}

/** A form's text is in memory; its file is not, since it is streamed to its store. */
function isFormBody({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.form !== undefined && /^multipart\//i.test(headers['content-type'] ?? '')
}

/** Counts a body of unknown length while it is received, by a listener that runs before that of its reader. */
function countBytes(payload: RequestPayload, limitBytes: number, share: Share): void {
  let bytes = 0
  payload.on('data', function counted(chunk: Buffer) {
    bytes += chunk.length
    const isRead = payload.listenerCount('data') > 1
    if (isRead && bytes <= limitBytes && (bytes <= SMALL_BYTES || share.reserve(bytes))) return
    payload.off('data', counted)
    if (!isRead) discardRest(payload as FastifyRequest['raw'], MAX_DISCARDED_BYTES)
    // The reader stops at the error, and the request gets its response.
    else if (bytes <= limitBytes) payload.emit('error', overloaded())
  })
}

function overloaded(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'Too many large requests are being received at the same time.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

import type { FastifyReply, FastifyRequest, preParsingHookHandler, RequestPayload } from 'fastify'
import { Problem } from '../contract/errors.ts'
import { MOST_DISCARDED_BYTES } from './errors.ts'
import { MOST_TEXT_BYTES } from './multipart.ts'
import { discardRest } from './rest-of-body.ts'

/** Memory for large bodies, which are held whole while they come in and while they are answered: so much at once. */
export type LargeBodies = {
  /** Before the first byte of a body is read; throws SERVICE_UNAVAILABLE where there is no room for it. */
  admit(limitBytes: number): preParsingHookHandler
  /** Wraps a handler: the body counts until it is through, also when the client has gone away. */
  hold(handler: Handler): Handler
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** What one request has of the room. */
type Share = {
  /** So much from here on; false where there is no room for it. */
  raise(bytes: number): boolean
  giveBack(): void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Settles when the handler of a large body is through; null for a small one. */
    largeBody: { through: Promise<unknown> } | null
  }
}

/** Of all large bodies on this node, and of those of one account; requests without an account count as one. */
const MOST_BYTES = 256 * 1024 * 1024
const MOST_OF_AN_ACCOUNT_BYTES = 128 * 1024 * 1024
/** What is smaller is not counted. */
const SMALL_BYTES = 64 * 1024
/** A large body comes in and is answered in about that time over a good line. */
const RETRY_AFTER_SECONDS = 5

/** `fileBytes`: how much of a form's file is in memory at most while it streams to its store. */
export function createLargeBodies(fileBytes = 0): LargeBodies {
  const room = createRoom()
  const mostOfForm = MOST_TEXT_BYTES + fileBytes

  function admit(limitBytes: number): preParsingHookHandler {
    return (request, reply, payload, done) => {
      const isForm = isFormBody(request)
      const bytes = Math.min(expectedBytes(request), isForm ? mostOfForm : UNKNOWN)
      // What declares more than its limit is refused unread, elsewhere. Of a form `bytes` is not the length.
      const tooLarge = !isForm && bytes > limitBytes && bytes !== UNKNOWN
      if (bytes <= SMALL_BYTES || tooLarge) return done(null, payload)
      // The client is gone: no `close` would give the share back.
      if (request.raw.destroyed) return done(null, payload)
      const share = room.open(request.caller?.account.id ?? '')
      if (!share.raise(bytes === UNKNOWN ? 0 : bytes)) return done(full())
      const largeBody = { through: Promise.resolve<unknown>(null) }
      request.largeBody = largeBody
      const end = () => void largeBody.through.finally(share.giveBack)
      // By whichever closes first: a pipelined answer never does where the connection is cut, and the body of
      // a refused request may still be coming.
      request.raw.once('close', end)
      reply.raw.once('close', end)
      if (bytes === UNKNOWN) count(payload, limitBytes, share)
      done(null, payload)
    }
  }

  function hold(handler: Handler): Handler {
    return (request, reply) => {
      const { largeBody } = request
      return largeBody === null ? handler(request, reply) : holdThrough(largeBody, request, reply)
    }

    async function holdThrough(
      largeBody: NonNullable<FastifyRequest['largeBody']>,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<unknown> {
      const { promise, resolve } = Promise.withResolvers<void>()
      largeBody.through = promise
      try {
        return await handler(request, reply)
      } finally {
        resolve()
      }
    }
  }

  return { admit, hold }
}

function createRoom() {
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
        raise(bytes) {
          const more = bytes - held
          const own = (byOwner.get(owner) ?? 0) + more
          if (all + more > MOST_BYTES || own > MOST_OF_AN_ACCOUNT_BYTES) return false
          move(owner, more)
          held = bytes
          return true
        },
        giveBack() {
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

/** A form's text is in memory as a whole; its file is not, since it streams to its store. */
function isFormBody({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.form !== undefined && /^multipart\//i.test(headers['content-type'] ?? '')
}

/** A body of unknown length is counted as it comes, by a listener before that of its reader. */
function count(payload: RequestPayload, limitBytes: number, share: Share): void {
  let bytes = 0
  payload.on('data', function counted(chunk: Buffer) {
    bytes += chunk.length
    const isRead = payload.listenerCount('data') > 1
    if (isRead && bytes <= limitBytes && (bytes <= SMALL_BYTES || share.raise(bytes))) return
    payload.off('data', counted)
    if (!isRead) discardRest(payload as FastifyRequest['raw'], MOST_DISCARDED_BYTES)
    // Its reader stops at the error, and it is answered.
    else if (bytes <= limitBytes) payload.emit('error', full())
  })
}

function full(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'Too many large requests are being received at the same time.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { invalid, type Problem, unreadable, unsupported } from '../contract/errors.ts'
import { type JsonFault, parseJson } from '../lib/json-source.ts'

/**
 * Stands in for a body that could not be read, until the validation refuses it. If the parser itself
 * failed, Fastify would close the connection, and the refusal could not be stored under its key.
 */
export class UnreadableBody {
  readonly problem: Problem
  /** SHA-256 of the bytes: two of them under one idempotency key are told apart by it. */
  readonly digest: string
  constructor(problem: Problem, bytes: Buffer) {
    this.problem = problem
    this.digest = hash('sha256', bytes, 'hex')
  }
}

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** JSON is the only body that is understood; anything else is a 415. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    done(null, readBody(request, body as Buffer))
  })
}

/** Any body as its bytes: what is signed must be read as it came. */
export function acceptAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** No body is read: the handler does that, and judges its type. */
export function leaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Throws a 415 for a body that is not plain JSON. */
export function requireJson({ headers }: Pick<FastifyRequest, 'headers'>): void {
  refusePacked(headers)
  if (JSON_TYPES.test(headers['content-type'] ?? '')) return
  throw unsupported('Content-Type', 'must be application/json')
}

/** Throws a 415 for a compressed body. */
export function refusePacked(headers: FastifyRequest['headers']): void {
  if (isPacked(headers)) throw packed()
}

/** Where no body is asked for, none is held against a schema; one that cannot be read is refused all the same. */
export function refuseUnreadable(
  { body }: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  done(body instanceof UnreadableBody ? body.problem : undefined)
}

/** What has no bytes has no type either: `curl -d ''` and others name one all the same. */
export function untypeEmpty({ headers }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (headers['content-length'] === '0') delete headers['content-type']
  done()
}

/** The same for one that comes in pieces: that there are none is known only when it is through, or the first is there. */
export function untypeEmptyChunked(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  payload: RequestPayload,
  done: (error: Error | null, payload: RequestPayload) => void,
): void {
  const isJson = JSON_TYPES.test(headers['content-type'] ?? '')
  if (headers['transfer-encoding'] === undefined || isJson) {
    done(null, payload)
    return
  }
  const look = () => {
    for (const event of SOMETHING_CAME) payload.off(event, look)
    if (payload.readableLength === 0) {
      delete headers['content-type']
      delete headers['transfer-encoding']
    }
    done(null, payload)
  }
  for (const event of SOMETHING_CAME) payload.on(event, look)
}

const SOMETHING_CAME = ['readable', 'error', 'close'] as const

/** No body says as much as an empty one. */
export function takeNone(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {}
  done()
}

function isPacked(headers: FastifyRequest['headers']): boolean {
  const encoding = headers['content-encoding']
  return encoding !== undefined && encoding.toLowerCase() !== 'identity'
}

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  if (isPacked(request.headers)) return new UnreadableBody(packed(), bytes)
  // No body at all: the schema of the route decides whether it needs one.
  if (bytes.length === 0) return undefined
  const result = parseJson(bytes)
  if (!result.ok) return new UnreadableBody(refusal(result), bytes)
  if (result.hasNulls) dropNulls(result.value)
  return result.value
}

function packed(): Problem {
  return unsupported('Content-Encoding', 'must be absent: compressed bodies are not supported')
}

/** What names a field was read well enough to say so. */
function refusal({ path, message }: JsonFault): Problem {
  return path === '' ? unreadable('', `The body ${message}.`, message) : invalid(path, message)
}

/** JSON of its own kind: the user's, stored as it came, and a provider's, where null clears a field. */
const KEPT_WHOLE: ReadonlySet<string> = new Set(['metadata', 'config'])

/** Fields that `null` ends, while absence leaves them as they are. */
const ENDED_BY_NULL: ReadonlySet<string> = new Set([
  'quietHours',
  'verification',
  'templateId',
  'dailyCap',
  'countries',
])

/** `null` for a field means that it is absent; items of arrays stay. The depth is bounded by the reader. */
export function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls)
  else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>
    for (const key of Object.keys(members)) {
      if (members[key] === null) {
        if (!ENDED_BY_NULL.has(key)) delete members[key]
      } else if (!KEPT_WHOLE.has(key)) dropNulls(members[key])
    }
  }
}

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
  /** SHA-256 of the bytes: distinguishes different bodies under one idempotency key. */
  readonly digest: string
  constructor(problem: Problem, bytes: Buffer) {
    this.problem = problem
    this.digest = hash('sha256', bytes, 'hex')
  }
}

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** Accepts only JSON bodies; anything else is a 415. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    done(null, readBody(request, body as Buffer))
  })
}

/** Accepts any body as raw bytes, since signatures cover the bytes. */
export function acceptRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** Leaves the body unread: the handler reads it and checks its type. */
export function skipBodyParsing(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Throws a 415 for a body that is not plain JSON. An absent body needs no type: its reader says that it is absent. */
export function requireJson({ headers }: Pick<FastifyRequest, 'headers'>): void {
  refuseCompressed(headers)
  const type = headers['content-type']
  if (JSON_TYPES.test(type ?? '') || (type === undefined && !mayHaveBody(headers))) return
  throw unsupported('Content-Type', 'must be application/json')
}

function mayHaveBody(headers: FastifyRequest['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Throws a 415 for a compressed body. */
export function refuseCompressed(headers: FastifyRequest['headers']): void {
  if (isCompressed(headers)) throw compressedBody()
}

/** For routes without a body schema: refuses a body that cannot be read. */
export function refuseUnreadable(
  { body }: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  done(body instanceof UnreadableBody ? body.problem : undefined)
}

/** Removes the content type of an empty body: `curl -d ''` and other clients send one. */
export function dropTypeOfEmptyBody(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  if (headers['content-length'] === '0') delete headers['content-type']
  done()
}

/** The same for a chunked body, which is known to be empty only at its end. */
export function dropTypeOfEmptyChunkedBody(
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
    for (const event of FIRST_EVENTS) payload.off(event, look)
    if (payload.readableLength === 0) {
      delete headers['content-type']
      delete headers['transfer-encoding']
    }
    done(null, payload)
  }
  for (const event of FIRST_EVENTS) payload.on(event, look)
}

const FIRST_EVENTS = ['readable', 'error', 'close'] as const

/** An absent body is treated as an empty object. */
export function defaultToEmptyBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {}
  done()
}

function isCompressed(headers: FastifyRequest['headers']): boolean {
  const encoding = headers['content-encoding']
  return encoding !== undefined && encoding.toLowerCase() !== 'identity'
}

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  if (isCompressed(request.headers)) return new UnreadableBody(compressedBody(), bytes)
  // The body is absent: the route's schema determines whether that is allowed.
  if (bytes.length === 0) return undefined
  const result = parseJson(bytes)
  if (!result.ok) return new UnreadableBody(refusal(result), bytes)
  if (result.hasNulls) dropNulls(result.value)
  return result.value
}

function compressedBody(): Problem {
  return unsupported('Content-Encoding', 'must be absent: compressed bodies are not supported')
}

/** The error of a field is an ordinary validation error; other errors mean that the body could not be read. */
function refusal({ path, message }: JsonFault): Problem {
  return path === '' ? unreadable('', `The body ${message}.`, message) : invalid(path, message)
}

/** Fields whose nulls stay: the user's own JSON, and a provider's configuration, where null clears a field. */
const FIELDS_WITH_NULLS: ReadonlySet<string> = new Set(['metadata', 'config'])

/** Fields in which null removes the value, while absence leaves it unchanged. */
const NULLABLE_FIELDS: ReadonlySet<string> = new Set([
  'quietHours',
  'verification',
  'templateId',
  'dailyCap',
  'countries',
])

/** Removes fields that are null, which means absent; nulls in arrays stay. The parser bounds the depth. */
export function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls)
  else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>
    for (const key of Object.keys(members)) {
      if (members[key] === null) {
        if (!NULLABLE_FIELDS.has(key)) delete members[key]
      } else if (!FIELDS_WITH_NULLS.has(key)) dropNulls(members[key])
    }
  }
}

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorBody } from '../contract/envelope.ts'
import { invalid, Problem, unsupported } from '../contract/errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import { challenge } from './challenge.ts'
import { discardRest } from './discard-rest.ts'
import { isBodyUnsent, LINGER_MS } from './expect-continue.ts'
import type { HttpLog } from './request-context.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Converts an error to a response, for all routes. An unexpected error is logged here, once, with the request's
 * id; the response contains no details of it.
 */
export function createErrorHandler(log: HttpLog) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const isElsewhere = isCutStream(error) && request.raw.complete
    const problem = isElsewhere
      ? new Problem('INTERNAL_ERROR', undefined, { cause: error })
      : toProblem(error, acceptedTypes(request))
    if (problem.status >= 500) logFailure(log, problem, error, request)
    if (!request.raw.complete) discardBody(problem, request, reply)
    removeFileHeaders(problem, reply)
    sendProblem(problem, request, reply)
  }
}

const FILE_HEADERS = ['Content-Disposition', 'ETag', 'Accept-Ranges']

/** Those of a file that could not be read: a browser would save the error under the file's name. */
function removeFileHeaders({ status }: Problem, reply: FastifyReply): void {
  for (const name of FILE_HEADERS) reply.removeHeader(name)
  if (status !== 416) reply.removeHeader('Content-Range')
}

/** Most bytes of a refused body that are still read and discarded. */
export const MAX_DISCARDED_BYTES = 256 * 1024 * 1024

/**
 * Fastify would close the connection of a client that is still sending, and most clients would then never
 * read the answer: the rest of the body is discarded instead. A client that is too slow is cut off, and one that
 * waits for a 100 has sent nothing yet.
 */
function discardBody(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  if (problem.code === 'REQUEST_TIMEOUT' || isBodyUnsent(request.raw))
    return void reply.header('Connection', 'close')
  // Also where the drain has announced it.
  const isLast = !reply.raw.shouldKeepAlive || reply.raw.hasHeader('Connection')
  reply.removeHeader('Connection')
  if (isLast) reply.header('Connection', 'close')
  discardRest(request.raw, MAX_DISCARDED_BYTES)
}

/** Sends `problem`, from code that cannot throw it. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  if (problem.retryAfterSeconds !== undefined) reply.header('Retry-After', String(problem.retryAfterSeconds))
  if (problem.status === 401) challenge(request, reply)
  reply
    .code(problem.status)
    .header('Content-Type', JSON_TYPE)
    .send(JSON.stringify(errorBody(problem, request.id)))
}

function acceptedTypes({ routeOptions: { config } }: FastifyRequest): string {
  if (!config.form) return 'application/json'
  return config.form.isFormRequired ? 'multipart/form-data' : 'application/json or multipart/form-data'
}

/** Converts any thrown value to a Problem without internal details; `types` are those that the route accepts. */
export function toProblem(error: unknown, types = 'application/json'): Problem {
  if (error instanceof Problem) return error
  if (isDatabaseUnavailable(error)) {
    return new Problem('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: 1, cause: error })
  }
  return (
    fromFastify(error as FastifyError, types) ?? new Problem('INTERNAL_ERROR', undefined, { cause: error })
  )
}

/** Checked by name: src/http may import only types from src/infra, which declares the class. */
function isDatabaseUnavailable(error: unknown): error is Error {
  return error instanceof Error && error.name === 'DatabaseUnavailable'
}

/**
 * A stream ended too soon: the request's body, if it has not arrived in full; else one of ours, such as a file that is
 * passed on, which is no fault of the client.
 */
function isCutStream(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}

/** Converts Fastify's own errors; undefined for other errors, whose status is not meant for the client. */
function fromFastify(error: FastifyError, types: string): Problem | undefined {
  if (isCutStream(error)) return invalid('', 'The body ended too soon.')
  switch (error?.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('PAYLOAD_TOO_LARGE')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return unsupported('Content-Type', `must be ${types}`)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('Content-Length', 'must be the length of the body')
    case 'FST_ERR_BAD_URL':
      return invalid('', 'The path must be percent-encoded UTF-8.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('NOT_FOUND')
    default:
      return undefined
  }
}

function logFailure(log: HttpLog, problem: Problem, error: unknown, request: FastifyRequest): void {
  const fields = { requestId: request.id, code: problem.code, method: request.method }
  const route = request.routeOptions.url ?? 'unmatched'
  // A Problem that was thrown deliberately, without a cause, is not a failure.
  if (problem === error && problem.cause === undefined) log.info({ ...fields, route }, 'refused')
  // All requests of an outage fail for the same reason: a stack trace for each would flood the log.
  else if (isDatabaseUnavailable(error))
    log.warn(
      { ...fields, route, reason: String(error.cause ?? error) },
      'refused: the database is unavailable',
    )
  else log.error({ ...fields, route, err: problem.cause ?? error }, 'request failed')
}

/**
 * Responds to connection errors: malformed HTTP, headers that are too large, a request that does not arrive in time.
 * Then it closes the connection, and ends the request whose body was arriving.
 */
export function createClientErrorHandler({ ids, clock }: { ids: Ids; clock: Clock }) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    const response = responseInProgress(socket)
    // During a response, a second status line would end up in that response's body.
    if (socket.writable && !response?.headersSent) {
      endWith(socket, rawAnswer(toClientProblem(error), ids), clock)
      if (response) endBody(response.req)
    } else socket.destroy()
  }
}

/**
 * Responds to CONNECT, by which a client asks for a tunnel if it takes this server for its proxy: Node would cut the
 * connection without a response.
 */
export function createConnectHandler({ ids, clock }: { ids: Ids; clock: Clock }) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    // From here on Node neither reads the connection nor handles its errors.
    socket.on('error', () => {})
    socket.resume()
    if (responseInProgress(socket)) socket.destroy()
    else endWith(socket, rawAnswer(new Problem('NOT_FOUND'), ids), clock)
  }
}

/** A client that goes on sending would otherwise keep the connection for as long as it likes. */
function endWith(socket: Duplex, answer: string, clock: Clock): void {
  socket.end(answer)
  socket.once(
    'close',
    clock.after(LINGER_MS, () => socket.destroy()),
  )
}

function responseInProgress(socket: Duplex): ServerResponse | null | undefined {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage
}

/** Its reader would wait until the client closes the connection, too. */
function endBody(request: IncomingMessage): void {
  if (request.complete || request.listenerCount('error') === 0) return
  request.emit(
    'error',
    Object.assign(new Error('the rest of the body is not valid HTTP'), { code: 'ECONNRESET' }),
  )
}

function toClientProblem(error: NodeJS.ErrnoException): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new Problem('HEADERS_TOO_LARGE')
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('REQUEST_TIMEOUT')
  return invalid('', 'The request is not valid HTTP.')
}

function rawAnswer(problem: Problem, ids: Ids): string {
  const requestId = ids.next('req')
  const body = JSON.stringify(errorBody(problem, requestId))
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Connection: close',
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    '',
    body,
  ].join('\r\n')
}

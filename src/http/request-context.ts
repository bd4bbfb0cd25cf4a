import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The part of a logger that http uses; pino has it. */
export type HttpLog = {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

/** Receives the metrics of every complete response. */
export type HttpMeter = {
  httpRequest(method: string, route: string, status: number, seconds: number): void
}

/**
 * Gives every response its request id, and logs and measures every request. The log line has the account and
 * the status, but never a body, a header or a query, which contain keys, phone numbers and codes.
 */
export function addRequestContext(app: FastifyInstance, log: HttpLog, meter: HttpMeter): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('signedIn', null)
  app.decorateRequest('joinedAccountId', null)
  app.decorateRequest('alsoAudited', null)
  app.decorateRequest('fault', null)
  app.decorateRequest('upload', null)
  app.decorateRequest('largeBody', null)
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (payload instanceof Readable) payload.once('error', error => logCut(log, error, request))
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'unmatched' : request.routeOptions.url!
    const durationMs = reply.elapsedTime
    meter.httpRequest(request.method, route, reply.statusCode, durationMs / 1000)
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        durationMs: Math.round(durationMs * 10) / 10,
        accountId: request.caller?.account.id,
      },
      'request',
    )
    done()
  })
}

/** The status was sent already: the client only sees that the connection ends too early. */
function logCut(log: HttpLog, error: unknown, request: FastifyRequest): void {
  const { message, cause = message } = error as Error
  const route = request.routeOptions.url
  log.warn(
    { requestId: request.id, method: request.method, route, reason: String(cause) },
    'a response was cut: its rest could not be read',
  )
}

/** Sets the headers of every response; also called for responses without hooks. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
}

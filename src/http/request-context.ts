import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** What http needs of a log; pino fits. */
export type HttpLog = {
  info(fields: object, text: string): void
  error(fields: object, text: string): void
}

/** Told of every answer that went out whole. */
export type HttpMeter = {
  httpRequest(method: string, route: string, status: number, seconds: number): void
}

/**
 * Gives every answer its request id, and every request one log line and one
 * measurement. The line names who called and what came of it; never a body, a
 * header or a query, for these hold keys, numbers and codes.
 */
export function addRequestContext(app: FastifyInstance, log: HttpLog, meter: HttpMeter): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('signedIn', null)
  app.decorateRequest('joined', null)
  app.decorateRequest('fault', null)
  app.decorateRequest('upload', null)
  app.decorateRequest('largeBody', null)
  app.addHook('onRequest', (request, reply, done) => {
    nameAnswer(request, reply)
    done()
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

/** Sets what every answer carries; also for answers that no hook sees. */
export function nameAnswer(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
}

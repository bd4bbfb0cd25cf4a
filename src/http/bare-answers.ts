import type { FastifyInstance } from 'fastify'
import { invalid } from '../contract/errors.ts'

/**
 * Takes over what Node would answer by itself, without a body and an id. It must have been told not to ask
 * for a Host (`requireHostHeader`).
 */
export function takeBareAnswers(app: FastifyInstance): void {
  // RFC 9112, 3.2: HTTP/1.1 without a Host is a 400.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1'
    done(lacksHost ? invalid('Host', 'is required') : undefined)
  })
  // RFC 9110, 10.1.1: an expectation that nobody knows may be passed over, where Node says 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}

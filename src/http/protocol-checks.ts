import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../contract/errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import { createConnectHandler } from './errors.ts'
import { continueIfComplete, continueWhenRead } from './expect-continue.ts'
import { isRepeated } from './repeated-header.ts'

/**
 * Makes the checks of the Host and Expect headers that Node would do itself, with responses that have no body
 * and no request id, and responds to CONNECT. Node's own check of the Host must be off (`requireHostHeader`).
 */
export function addProtocolChecks(app: FastifyInstance, deps: { clock: Clock; ids: Ids }): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = faultOfHost(raw)
    done(fault === null ? undefined : invalid('Host', fault))
  })
  // RFC 9110, 10.1.1: an unknown expectation may be ignored; Node would respond with 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response, deps.clock)
    app.server.emit('request', request, response)
  })
  app.server.on('connect', createConnectHandler(deps))
  app.addHook('onSend', (request, reply, payload, done) => {
    continueIfComplete(request.raw, reply.raw)
    done(null, payload)
  })
}

/** A host name or address, with an optional port (RFC 3986); it may be empty. */
const HOST = /^(?:\[[\w.:%~-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/**
 * RFC 9112, 3.2: HTTP/1.1 without a Host is a 400, and so is any request with two, or with an invalid one. A
 * proxy might use the other one, and links are built from it.
 */
function faultOfHost({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  const { host } = headers
  if (host === undefined) return httpVersion === '1.1' ? 'is required' : null
  if (!HOST.test(host)) return 'must be a host, with or without a port'
  return isRepeated(rawHeaders, 'host') ? 'must be given once only' : null
}

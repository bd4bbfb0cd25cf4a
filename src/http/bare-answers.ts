import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../contract/errors.ts'

/**
 * Takes over what Node would answer by itself, without a body and an id. It must have been told not to ask
 * for a Host (`requireHostHeader`).
 */
export function takeBareAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = faultOfHost(raw)
    done(fault === null ? undefined : invalid('Host', fault))
  })
  // RFC 9110, 10.1.1: an expectation that nobody knows may be passed over, where Node says 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}

/** A name or an address, and a port, as RFC 3986 spells them; a request may also name nobody. */
const HOST = /^(?:\[[\w.:%~-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/**
 * RFC 9112, 3.2: HTTP/1.1 without a Host is a 400, and so is any request with two, or with one that is none.
 * A proxy in front may go by the other one, and links are made of it.
 */
function faultOfHost({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  const { host } = headers
  if (host === undefined) return httpVersion === '1.1' ? 'is required' : null
  if (!HOST.test(host)) return 'must be a host, with or without a port'
  return isRepeated(rawHeaders) ? 'must be given once only' : null
}

/** Names and values in turns, as they came; of several Node keeps the first. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') found++
  }
  return found > 1
}

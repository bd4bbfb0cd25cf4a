import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'

/** Time for running requests after the server closes; the rest of the shutdown needs time too. */
const DRAIN_TIMEOUT_MS = 5_000

/**
 * Makes `close()` end. Node itself waits for connections that never sent a request, for those that become idle
 * later, and for streams that never finish. The first two are closed at once, the last after
 * `DRAIN_TIMEOUT_MS`. Responses in the meantime carry `Connection: close`, so that clients do not send another
 * request on a closing connection.
 */
export function addDrain(app: FastifyInstance, clock: Clock): void {
  /** The last response of each connection, or null if it had no request. */
  const answers = new Map<Socket, ServerResponse | null>()
  let closing = false
  app.server.on('connection', socket => {
    answers.set(socket, null)
    socket.once('close', () => answers.delete(socket))
  })
  app.server.on('request', (request, response) => answers.set(request.socket, response))

  app.addHook('onResponse', (_request, _reply, done) => {
    if (closing) app.server.closeIdleConnections()
    done()
  })
  app.addHook('preClose', done => {
    closing = true
    for (const [socket, response] of answers) {
      if (!response) socket.destroy()
      else if (!response.headersSent) response.setHeader('connection', 'close')
    }
    const cancel = clock.after(DRAIN_TIMEOUT_MS, () => app.server.closeAllConnections())
    app.server.once('close', cancel)
    done()
  })
}

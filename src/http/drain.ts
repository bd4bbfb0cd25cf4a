import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'

/** How long requests under way may take once the server closes; the rest of the stop needs time too. */
const DRAIN_TIMEOUT_MS = 5_000

/**
 * Makes `close()` end: Node itself waits for connections that never sent a
 * request, for those that fall idle after it looked, and for streams that never
 * finish. The first two are closed at once, the last after `DRAIN_TIMEOUT_MS`.
 * What is answered meanwhile says that the connection ends with it, so that nobody
 * sends the next request into its end.
 */
export function addDrain(app: FastifyInstance, clock: Clock): void {
  /** Each connection's last answer, or null where nothing was asked. */
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

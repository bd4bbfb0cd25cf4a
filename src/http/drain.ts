import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'

/** How long requests under way may take once the server closes; the rest of the stop needs time too. */
const DRAIN_TIMEOUT_MS = 5_000

/**
 * Makes `close()` end: Node itself waits for connections that never sent a
 * request, for those that fall idle after it looked, and for streams that never
 * finish. The first two are closed at once, the last after `DRAIN_TIMEOUT_MS`.
 */
export function addDrain(app: FastifyInstance, clock: Clock): void {
  const silent = new Set<Socket>()
  let closing = false
  app.server.on('connection', socket => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', request => silent.delete(request.socket))

  app.addHook('onResponse', (_request, _reply, done) => {
    if (closing) app.server.closeIdleConnections()
    done()
  })
  app.addHook('preClose', done => {
    closing = true
    for (const socket of silent) socket.destroy()
    const cancel = clock.after(DRAIN_TIMEOUT_MS, () => app.server.closeAllConnections())
    app.server.once('close', cancel)
    done()
  })
}

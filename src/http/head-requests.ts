import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** Ends a stream that would be the body of a HEAD's response: Fastify reads all of it, such as a file of 100 MB, and sends none. */
export function endBodiesOfHead(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.method === 'HEAD' && payload instanceof Readable) payload.destroy()
    done(null, payload)
  })
}

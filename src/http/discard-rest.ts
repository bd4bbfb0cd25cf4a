import type { IncomingMessage } from 'node:http'
import { isBodyUnsent } from './expect-continue.ts'

/**
 * Discards the rest of a refused body, at most `mostBytes`: most clients do not read a response whose connection
 * is cut while they send. Afterwards the connection can be reused. Does nothing if the body already has a
 * reader, which has its own limit, or if the client does not send the body without being asked to.
 */
export function discardRest(request: IncomingMessage, mostBytes: number): void {
  if (request.complete || request.destroyed || request.listenerCount('data') > 0) return
  if (isBodyUnsent(request)) return
  let bytes = 0
  request.on('error', () => {})
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) request.destroy()
  })
  // An earlier reader may have paused it.
  request.resume()
}

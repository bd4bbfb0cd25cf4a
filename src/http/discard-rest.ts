import type { IncomingMessage } from 'node:http'
import { isBodyUnsent } from './expect-continue.ts'

/**
 * Discards the rest of a refused body, at most `mostBytes`: most clients do not read a response whose connection
 * is cut while they send. Afterwards the connection can be reused, unless the client asked for its end. If the
 * body already has a reader, which has its own limit, that one goes on instead. Does nothing if the client does
 * not send the body without being asked to.
 */
export function discardRest(request: IncomingMessage, mostBytes: number): void {
  if (request.complete || request.destroyed || isBodyUnsent(request)) return
  closeAfterBody(request)
  if (request.listenerCount('data') > 0) return
  let bytes = 0
  request.on('error', () => {})
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) request.destroy()
  })
  // An earlier reader may have paused it.
  request.resume()
}

const closingAfterBody = new WeakSet<IncomingMessage>()

/**
 * Keeps the connection until the body has arrived: right after a response that is its last, Node calls the socket's
 * `destroySoon`, and would cut it.
 */
export function closeAfterBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed || closingAfterBody.has(request)) return
  closingAfterBody.add(request)
  const { socket } = request
  const { destroySoon } = socket
  let isAnswered = false
  socket.destroySoon = () => {
    isAnswered = true
    socket.end()
  }
  request.once('close', () => {
    socket.destroySoon = destroySoon
    if (isAnswered) socket.destroySoon()
  })
}

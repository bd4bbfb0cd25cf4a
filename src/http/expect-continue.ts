import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The client expects a 100, and has not got it yet. */
    awaitsContinue?: boolean
  }
}

/** The time for a client to read a refusal, in ms. */
export const LINGER_MS = 5_000

/**
 * For `Expect: 100-continue`: asks for the body when the server begins to read it. A refusal that needs only the
 * headers comes instead of the 100, so that the client need not send the body; then the connection is closed.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  const read = request._read
  request.awaitsContinue = true
  request._read = size => {
    request._read = read
    // After the response Node discards what is left of the body.
    if (!response.headersSent) sendContinue(request, response)
    request._read(size)
  }
  closeSlowly(request, clock)
}

/** The last request of each connection that expected a 100. */
const lastExpecting = new WeakMap<Socket, IncomingMessage>()

/**
 * Node would cut the connection after the response, and a client that sends its body without waiting would lose the
 * response: the body is discarded for a while. Once for a connection, however many requests it carries.
 */
function closeSlowly(request: IncomingMessage, clock: Clock): void {
  const { socket } = request
  const isPrepared = lastExpecting.has(socket)
  lastExpecting.set(socket, request)
  if (isPrepared) return
  const { destroySoon } = socket
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon
    if (!lastExpecting.get(socket)?.awaitsContinue) return socket.destroySoon()
    socket.end()
    socket.once(
      'close',
      clock.after(LINGER_MS, () => socket.destroy()),
    )
  }
}

/** Called before the response: the connection stays usable if the client has sent its body without waiting. */
export function continueIfComplete(request: IncomingMessage, response: ServerResponse): void {
  if (request.awaitsContinue && request.complete) sendContinue(request, response)
}

/** Whether the client has not begun to send its body, and need not. */
export function isBodyUnsent(request: IncomingMessage): boolean {
  return request.awaitsContinue === true && request.readableLength === 0
}

function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  request.awaitsContinue = false
  response.writeContinue()
}

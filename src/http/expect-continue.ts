import type { IncomingMessage, ServerResponse } from 'node:http'

declare module 'node:http' {
  interface IncomingMessage {
    /** The client expects a 100, and has not got it yet. */
    awaitsContinue?: boolean
  }
}

/**
 * For `Expect: 100-continue`: asks for the body when the server begins to read it. A refusal that needs only the
 * headers comes instead of the 100, so that the client need not send the body; Node then closes the connection.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read
  request.awaitsContinue = true
  request._read = size => {
    request._read = read
    // After the response Node discards what is left of the body.
    if (!response.headersSent) sendContinue(request, response)
    request._read(size)
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

import type { IncomingMessage } from 'node:http'

/**
 * What is left of a refused body is read and thrown away, `mostBytes` of it at
 * most: cut off in the middle of it, most clients never hear the answer. Behind
 * its end the connection is as good as before. Does nothing where somebody reads it
 * already, by a bound of their own.
 */
export function discardRest(request: IncomingMessage, mostBytes: number): void {
  if (request.complete || request.destroyed || request.listenerCount('data') > 0) return
  let bytes = 0
  request.on('error', () => {})
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) request.destroy()
  })
  // Whoever read it before may have left it standing.
  request.resume()
}

import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Aborts when the client of a GET has disconnected: at once if that was before the handler, as while its key was looked up.
 * On whichever closes first: a pipelined response may not close with its connection.
 */
export function abortWhenGone(
  { raw: request }: { raw: IncomingMessage },
  { raw: reply }: { raw: ServerResponse },
): AbortController {
  const gone = new AbortController()
  const end = () => gone.abort()
  if (request.destroyed) end()
  request.once('close', end)
  reply.once('close', end)
  return gone
}

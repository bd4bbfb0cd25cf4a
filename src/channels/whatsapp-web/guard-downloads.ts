import { Readable, type Writable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

type Fetch = typeof globalThis.fetch

/**
 * The library pipes its own downloads, such as a history, without an 'error' listener: a download that
 * is cut would end the process. With this fetch, the failure appears where the library reads the body, and is handled there.
 */
export function guardDownloads(fetch: Fetch, isTheirs: (url: URL) => boolean): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const url = URL.parse(input instanceof Request ? input.url : String(input))
    return init?.method === 'GET' && url && isTheirs(url) ? withBody(response) : response
  }
}

/** The library accepts a Node stream as the body. */
function withBody(response: Response): Response {
  let body: Readable | null = null
  return new Proxy(response, {
    get(target, name) {
      if (name === 'body' && target.body) {
        body ??= forwardingErrors(target.body as ReadableStream)
        return body
      }
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function forwardingErrors(bytes: ReadableStream): Readable {
  const body = Readable.fromWeb(bytes)
  body.pipe = (to, options) => {
    body.once('error', error => (to as unknown as Writable).destroy(error))
    to.once('close', () => body.destroy())
    return Readable.prototype.pipe.call(body, to, options) as typeof to
  }
  return body
}

import { Readable, type Writable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

type Fetch = typeof globalThis.fetch

/**
 * The library pours what it downloads by itself, such as a history, without listening for failures: one download that
 * is cut would end the process. By this fetch it hears of it where it reads, and answers with a failure of its own.
 */
export function guardDownloads(fetch: Fetch, isTheirs: (url: URL) => boolean): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const url = URL.parse(input instanceof Request ? input.url : String(input))
    return init?.method === 'GET' && url && isTheirs(url) ? withBody(response) : response
  }
}

/** It takes a body that is a stream of Node's as it is. */
function withBody(response: Response): Response {
  let body: Readable | null = null
  return new Proxy(response, {
    get(target, name) {
      if (name === 'body' && target.body) {
        body ??= failingOnward(target.body as ReadableStream)
        return body
      }
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function failingOnward(bytes: ReadableStream): Readable {
  const body = Readable.fromWeb(bytes)
  body.pipe = (to, options) => {
    body.once('error', error => (to as unknown as Writable).destroy(error))
    to.once('close', () => body.destroy())
    return Readable.prototype.pipe.call(body, to, options) as typeof to
  }
  return body
}

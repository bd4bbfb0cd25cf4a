import createClient from 'openapi-fetch'
import type { ErrorBody, Paths } from './api.ts'
import { type Call, type Init, KEYED_PATHS, type Method } from './calls.ts'
import { PosthornError, PosthornUnreachable } from './error.ts'
import { createRetryingFetch, type RetryOptions } from './retries.ts'

export type * from './api.ts'
export type { Answer, CallInit, PathsWith } from './calls.ts'
export { type ErrorCode, type ErrorDetail, PosthornError, PosthornUnreachable } from './error.ts'
export * from './words.ts'

export type PosthornOptions = RetryOptions & {
  /** The server's URL, such as `https://messages.example.com`; in a browser, by default the page's own origin. */
  baseUrl?: string | undefined
  /** `ph_live_…` or `ph_test_…`, for `/api/v2`. */
  apiKey?: string | undefined
  /** For `/api/admin`. */
  operatorToken?: string | undefined
  /** Additional headers, computed for each request. */
  headers?: ((request: Request) => Record<string, string>) | undefined
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

export type Posthorn = { [M in Method]: Call<M> }

/**
 * The client of the whole API, typed by its OpenAPI description.
 *
 *     const posthorn = createPosthorn({ baseUrl, apiKey: 'ph_test_…' })
 *     const sent = await posthorn.post('/api/v2/messages/send', {
 *       body: { to: '+12025550123', text: 'Hello' },
 *       idempotencyKey: 'order-1234',
 *     })
 *
 * A call resolves with the body of a successful response. It throws `PosthornError` for an error response,
 * and `PosthornUnreachable` if there was no valid response. GET requests and those with an
 * `idempotencyKey` are retried.
 */
export function createPosthorn(options: PosthornOptions): Posthorn {
  const { baseUrl = '', apiKey, operatorToken, headers } = options
  const send = createRetryingFetch(options.fetch ?? (request => fetch(request)), options)
  const client = createClient<Paths>({
    baseUrl,
    headers: {
      ...(apiKey !== undefined && { 'X-API-Key': apiKey }),
      ...(operatorToken !== undefined && { Authorization: `Bearer ${operatorToken}` }),
    },
  })
  if (headers) {
    client.use({
      onRequest({ request }) {
        for (const [name, value] of Object.entries(headers(request))) request.headers.set(name, value)
      },
    })
  }

  // `Call` has the types of each path.
  const request = client.request as unknown as UntypedRequest

  async function call(method: Method, path: string, init: Init<unknown> = {}): Promise<unknown> {
    const { path: params, query, body, idempotencyKey, headers, signal, parseAs } = init as AnyInit
    const takesKey = method === 'post' && Object.hasOwn(KEYED_PATHS, path)
    if (idempotencyKey !== undefined && !takesKey) throw unusableKey(method, path)
    let wasSent = false
    let responseStatus: number | null = null
    const { data, error, response } = await request(method, path, {
      async fetch(request: Request) {
        wasSent = true
        const answer = await send(request, takesKey)
        responseStatus = answer.status
        if (isRedirect(answer)) throw redirectError(answer)
        return answer
      },
      // Following a redirect would send the key to an unknown server, and could turn a POST into a GET.
      redirect: 'manual',
      params: { path: params, query },
      body,
      ...(signal && { signal }),
      ...(parseAs && { parseAs }),
      headers: { ...headers, ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }) },
    }).catch(cause => {
      // A request that cannot be built, such as one with a non-Latin header, is the caller's error.
      throw wasSent ? toCallError(cause, responseStatus, signal) : cause
    })
    // Not by `error`: a response without a body has none, whatever its status.
    if (!response.ok) throw toError(response, error)
    if (data === undefined && parseAs === undefined) throw foreignResponse(response.status)
    return data
  }

  const bind = (method: Method) => (path: string, init?: Init<unknown>) => call(method, path, init)
  return {
    get: bind('get'),
    post: bind('post'),
    put: bind('put'),
    patch: bind('patch'),
    delete: bind('delete'),
  } as Posthorn
}

function unusableKey(method: Method, path: string): TypeError {
  return new TypeError(
    `${method.toUpperCase()} ${path} takes no idempotency key: repeated, it might act twice.`,
  )
}

type UntypedRequest = (
  method: Method,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

type AnyInit = {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  idempotencyKey?: string
  headers?: Record<string, string>
  signal?: AbortSignal
  parseAs?: 'text' | 'blob'
}

/** The error for a request without a valid response; the caller's own reason if the caller aborted it. */
function toCallError(
  cause: unknown,
  responseStatus: number | null,
  signal: AbortSignal | undefined,
): unknown {
  if (signal?.aborted || (cause instanceof Error && cause.name === 'AbortError')) return cause
  if (cause instanceof PosthornUnreachable) return cause
  if (responseStatus !== null && cause instanceof SyntaxError) return foreignResponse(responseStatus, cause)
  return new PosthornUnreachable('The server cannot be reached.', null, cause)
}

function toError(response: Response, body: unknown): Error {
  return isErrorBody(body) ? new PosthornError(response.status, body) : foreignResponse(response.status)
}

function foreignResponse(status: number, cause?: unknown): PosthornUnreachable {
  return new PosthornUnreachable(
    `The response with status ${status} is not from a Posthorn server.`,
    status,
    cause,
  )
}

/** In a browser, a redirect has no other properties than its type. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400)
}

function redirectError({ status, headers }: Response): PosthornUnreachable {
  const to = headers.get('location') ?? 'somewhere else'
  return new PosthornUnreachable(
    `The server redirects to ${to}: use that address as baseUrl.`,
    status || null,
  )
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'error' in body
}

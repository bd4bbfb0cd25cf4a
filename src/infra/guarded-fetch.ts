import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { GuardedFetchError } from './guarded-fetch/error.ts'
import { asFetchError, exchangeOnce } from './guarded-fetch/exchange.ts'
import { createKeepAliveAgents } from './guarded-fetch/keep-alive.ts'
import { isNoSuchName, type Resolve, resolveAsMachine, resolvePublic } from './guarded-fetch/resolve.ts'
import { isPublicAddress, parseAllowedHost, readTarget, type Target } from './guarded-fetch/target.ts'

export { GuardedFetchError } from './guarded-fetch/error.ts'

export type GuardedRequest = {
  url: string
  /** GET if absent. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** A lower limit for the body than that of the client. */
  maxBytes?: number
  /** For the whole request, from the name resolution to the last byte of the body. */
  timeoutMs?: number
  /**
   * The request may arrive twice without harm: it may use a kept connection, and is repeated at once if the
   * server had closed that.
   */
  repeatable?: boolean
}

export type GuardedResponse = {
  status: number
  /** Names are in lower case; repeated headers are joined with commas. */
  headers: Readonly<Record<string, string>>
  /** The bytes as sent, not decompressed. Fails with GuardedFetchError. Must be read or destroyed. */
  body: Readable
  /** Up to `limitBytes` of the body as UTF-8; the rest is not read. */
  text(limitBytes: number): Promise<string>
}

export type GuardedFetch = {
  /** Checks a URL that a user enters, without resolving its name: the text for a 400, or null if it is valid. */
  check(url: string): string | null
  /** Rejects with GuardedFetchError, and with nothing else. */
  fetch(request: GuardedRequest): Promise<GuardedResponse>
}

export type GuardedFetchOptions = {
  /** `host`, `address` or `host:port`: only these may be private addresses, and may use http. */
  allowPrivateHosts: readonly string[]
  clock: Clock
  maxBytes: number
  timeoutMs: number
  resolve?: Resolve
}

/** Limit for connecting, within the whole time: a host that drops packets is given up early. */
const CONNECT_MS = 5_000

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * The HTTP client for URLs that users give. A name is resolved once, all of its addresses must be public, and
 * the connection goes to one of them, so that changing the name in between (DNS rebinding) has no effect. GET
 * and HEAD follow up to three redirects to the same scheme, host and port; any other redirect is an error.
 * Throws if an entry of `allowPrivateHosts` is invalid.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { clock } = options
  const allowed = options.allowPrivateHosts.map(parseAllowedHost)
  const kept = createKeepAliveAgents(clock)

  async function run(request: GuardedRequest, whole: RequestScope): Promise<GuardedResponse> {
    const method = request.method ?? 'GET'
    const maxBytes = Math.min(request.maxBytes ?? options.maxBytes, options.maxBytes)
    let url = request.url
    for (let hops = 0; ; hops++) {
      const target = targetOf(url)
      const response = await exchangeOnce({
        target,
        addresses: () => addressesOf(target, whole.signal),
        method,
        headers: request.headers ?? {},
        body: request.body ?? null,
        connectMs: CONNECT_MS,
        keepAlive: request.repeatable ? kept(target.url.protocol) : null,
        clock,
        signal: whole.signal,
        progress: whole.progress,
      })
      const location = redirectOf(response)
      if (location === null) return readResponse(response, maxBytes, method, whole)
      response.destroy()
      url = nextUrl(target.url, location, method, hops)
    }
  }

  function targetOf(url: string): Target {
    const target = readTarget(url, allowed)
    if (typeof target === 'string') throw new GuardedFetchError('blocked', target, { retryable: false })
    return target
  }

  async function addressesOf(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    const resolve = options.resolve ?? (target.allowed ? resolveAsMachine : resolvePublic)
    const addresses = await unlessAborted(resolve(target.host, signal), signal)
    if (addresses.length === 0) throw unresolvable(null)
    if (target.allowed || addresses.every(isPublicAddress)) return addresses
    throw new GuardedFetchError('blocked', 'The URL must point to a public address.', { retryable: false })
  }

  return {
    check(url) {
      const target = readTarget(url, allowed)
      return typeof target === 'string' ? target : null
    },
    async fetch(request) {
      const whole = startRequest(clock, request.timeoutMs ?? options.timeoutMs, request.signal)
      try {
        return await run(request, whole)
      } catch (error) {
        whole.finish()
        throw asFetchError(error, whole.progress.sent)
      }
    },
  }
}

/** The time limit and progress of a request, from its first hop to the last byte of the body. */
type RequestScope = { signal: AbortSignal; progress: { sent: boolean }; finish(): void }

function startRequest(clock: Clock, timeoutMs: number, caller?: AbortSignal): RequestScope {
  const controller = new AbortController()
  const give = (text: string) => () =>
    controller.abort(new GuardedFetchError('timeout', text, { retryable: true }))
  const stopped = give('The request was aborted.')
  const cancel = clock.after(timeoutMs, give('The response did not arrive in time.'))
  caller?.addEventListener('abort', stopped, { once: true })
  if (caller?.aborted) stopped()
  return {
    signal: controller.signal,
    progress: { sent: false },
    finish() {
      cancel()
      caller?.removeEventListener('abort', stopped)
    },
  }
}

/** A resolver may not support cancellation; then its result is ignored. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw unresolvable(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function unresolvable(error: unknown): GuardedFetchError {
  const retryable = error !== null && !isNoSuchName(error)
  return new GuardedFetchError('unresolvable', 'The name in the URL cannot be resolved.', { retryable })
}

/** The location of a redirect, empty if it has none; null for other responses. */
function redirectOf(response: IncomingMessage): string | null {
  return REDIRECTS.has(response.statusCode ?? 0) ? (response.headers.location ?? '') : null
}

function nextUrl(from: URL, location: string, method: string, hops: number): string {
  const safe = method === 'GET' || method === 'HEAD'
  const next = safe && location !== '' && hops < MAX_REDIRECTS ? URL.parse(location, from.href) : null
  if (next === null || next.origin !== from.origin) {
    throw new GuardedFetchError('redirect', 'The URL redirects to another place.', { retryable: false })
  }
  next.hash = ''
  return next.href
}

function readResponse(
  response: IncomingMessage,
  maxBytes: number,
  method: string,
  whole: RequestScope,
): GuardedResponse {
  if (method !== 'HEAD' && Number(response.headers['content-length'] ?? 0) > maxBytes) {
    response.destroy()
    throw tooLarge(maxBytes)
  }
  const body = boundedBody(response, maxBytes, whole)
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    body,
    text: limitBytes => readText(body, limitBytes),
  }
}

/** Passes the bytes on until there are too many, the time is over, or the reader stops. */
function boundedBody(response: IncomingMessage, maxBytes: number, whole: RequestScope): Readable {
  let size = 0
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > maxBytes) done(asFetchError(tooLarge(maxBytes), true))
      else done(null, chunk)
    },
  })
  const abort = () => body.destroy(asFetchError(whole.signal.reason, true))
  whole.signal.addEventListener('abort', abort, { once: true })
  // A caller that reads only the status has no listener: a late error of the body must not end the process.
  body.on('error', () => {})
  body.once('close', () => {
    whole.signal.removeEventListener('abort', abort)
    whole.finish()
    response.destroy()
  })
  response.once('error', error => body.destroy(asFetchError(error, true)))
  response.pipe(body)
  if (whole.signal.aborted) abort()
  return body
}

function tooLarge(maxBytes: number): GuardedFetchError {
  return new GuardedFetchError('too_large', `The response is larger than ${maxBytes} bytes.`, {
    retryable: false,
  })
}

async function readText(body: Readable, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= limitBytes) break
  }
  return Buffer.concat(chunks).subarray(0, limitBytes).toString('utf8')
}

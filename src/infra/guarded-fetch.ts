import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { GuardedFetchError } from './guarded-fetch/error.ts'
import { asFetchError, exchangeOnce } from './guarded-fetch/exchange.ts'
import { createKeptConnections } from './guarded-fetch/kept.ts'
import { isNoSuchName, type Resolve, resolveAsMachine, resolvePublic } from './guarded-fetch/resolve.ts'
import { isPublicAddress, parseAllowedHost, readTarget, type Target } from './guarded-fetch/target.ts'

export { GuardedFetchError } from './guarded-fetch/error.ts'

export type GuardedRequest = {
  url: string
  /** GET where absent. */
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** Narrower than the client's own bound, for this request. */
  maxBytes?: number
  /** The whole request, from the name to the last byte of the body. */
  timeoutMs?: number
  /**
   * That it may arrive twice does no harm: it may use a connection that an earlier request left
   * open, and is repeated at once where the far side turns out to have closed it.
   */
  repeatable?: boolean
}

export type GuardedResponse = {
  status: number
  /** Names in lower case; a repeated header is joined with commas. */
  headers: Readonly<Record<string, string>>
  /** The bytes as sent, never unpacked. Fails with GuardedFetchError; to be read or destroyed. */
  body: Readable
  /** At most `limitBytes` of the body as UTF-8; the rest is not read. */
  text(limitBytes: number): Promise<string>
}

export type GuardedFetch = {
  /** Judges a URL when a user gives it: the sentence for a 400, or null. Resolves no name. */
  check(url: string): string | null
  /** Rejects with GuardedFetchError, and with nothing else. */
  fetch(request: GuardedRequest): Promise<GuardedResponse>
}

export type GuardedFetchOptions = {
  /** `host`, `address`, `host:port`: exactly these may be private, and may be asked over http. */
  allowPrivateHosts: readonly string[]
  clock: Clock
  maxBytes: number
  timeoutMs: number
  resolve?: Resolve
}

/** A part of the whole time: a host that swallows packets is given up early. */
const CONNECT_MS = 5_000

const MOST_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * The one HTTP client for addresses that users give. A name is resolved once, all its addresses
 * must be public, and the connection goes to one of those, so a name that changes its mind in
 * between (DNS rebinding) changes nothing. A GET or HEAD follows up to three redirects that stay
 * on scheme, host and port; every other redirect is a failure. Throws on an allowed host that is
 * none.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { clock } = options
  const allowed = options.allowPrivateHosts.map(parseAllowedHost)
  const kept = createKeptConnections(clock)

  async function run(request: GuardedRequest, whole: Whole): Promise<GuardedResponse> {
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
        kept: request.repeatable ? kept(target.url.protocol) : null,
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
    throw new GuardedFetchError('blocked', 'The URL must lead to a public address.', { retryable: false })
  }

  return {
    check(url) {
      const target = readTarget(url, allowed)
      return typeof target === 'string' ? target : null
    },
    async fetch(request) {
      const whole = startWhole(clock, request.timeoutMs ?? options.timeoutMs, request.signal)
      try {
        return await run(request, whole)
      } catch (error) {
        whole.finish()
        throw asFetchError(error, whole.progress.sent)
      }
    },
  }
}

/** What holds for a request from its first hop to the last byte of its body. */
type Whole = { signal: AbortSignal; progress: { sent: boolean }; finish(): void }

function startWhole(clock: Clock, timeoutMs: number, caller?: AbortSignal): Whole {
  const controller = new AbortController()
  const give = (text: string) => () =>
    controller.abort(new GuardedFetchError('timeout', text, { retryable: true }))
  const stopped = give('The request was given up.')
  const cancel = clock.after(timeoutMs, give('The answer did not come in time.'))
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

/** A resolver may not know how to stop; we stop waiting for it. */
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

/** Where an answer sends us, or null where it is an answer. */
function redirectOf(response: IncomingMessage): string | null {
  return REDIRECTS.has(response.statusCode ?? 0) ? (response.headers.location ?? '') : null
}

function nextUrl(from: URL, location: string, method: string, hops: number): string {
  const safe = method === 'GET' || method === 'HEAD'
  const next = safe && location !== '' && hops < MOST_REDIRECTS ? URL.parse(location, from.href) : null
  if (next === null || next.origin !== from.origin) {
    throw new GuardedFetchError('redirect', 'The URL leads elsewhere.', { retryable: false })
  }
  next.hash = ''
  return next.href
}

function readResponse(
  response: IncomingMessage,
  maxBytes: number,
  method: string,
  whole: Whole,
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

/** Passes the bytes on until there are too many, the time is over or the reader has enough. */
function boundedBody(response: IncomingMessage, maxBytes: number, whole: Whole): Readable {
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
  // Somebody who looks at the status alone must not be brought down by a late fault of the body.
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
  return new GuardedFetchError('too_large', `The answer is larger than ${maxBytes} bytes.`, {
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

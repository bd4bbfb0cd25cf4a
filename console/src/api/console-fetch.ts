import { takeEarlyResponse } from './early.ts'
import { LostResponse } from './lost-response.ts'
import type { Reachability } from './reachability.ts'
import { learnServerTime } from './server-clock.ts'

/** The identity that each request carries. */
export type Identity = {
  csrfToken: string | null
  accountId: string | null
  mode: 'live' | 'test'
}

export type ConsoleFetchDeps = {
  identity(): Identity
  reachability: Reachability
  /** Asks the person to sign in again; false if they do not. */
  signInAgain(): Promise<boolean>
  /** Takes over the cookie's session if it is another one of the same person; false if it is the known one. */
  followSession(): Promise<boolean>
}

/** Paths whose 401 does not mean that the session has ended. */
const SIGN_IN_PATHS = /^\/api\/console\/(?:setup|login|logout|session|invitations)\b/

/** POSTs that change nothing, and so may be repeated. */
const READ_ONLY_POSTS = /\/(?:estimate|preview)$/

/** Has the messages of both modes, and is always read as with a test key. */
const SANDBOX_PATHS = /^\/api\/v2\/sandbox\//

/**
 * The headers for the account and the mode of a request. They are those of the moment of the action: until a retry, or
 * until a large body is built, the person may have switched, and a test would be sent as a live message.
 */
export function scopeHeaders({ accountId, mode }: Identity, url: string): Record<string, string> {
  return {
    ...(accountId !== null && { 'X-Posthorn-Account': accountId }),
    'X-Posthorn-Mode': SANDBOX_PATHS.test(new URL(url).pathname) ? 'test' : mode,
  }
}

/**
 * Sends requests as the signed-in person. If the session has ended, a request waits until they have signed in
 * again, and is then repeated, so that input is not lost. So is one that was refused since another tab has begun a
 * new session, and this one, which the browser had put to sleep, did not hear of it.
 */
export function createConsoleFetch(deps: ConsoleFetchDeps) {
  const { identity, reachability } = deps

  async function attempt(request: Request): Promise<Response> {
    const sentAtMs = Date.now()
    try {
      const response =
        (await takeEarlyResponse(request)) ?? (await fetch(withToken(request.clone(), identity())))
      learnServerTime(response, sentAtMs)
      const isDown = await isServerDown(response)
      reachability.setUnreachable(isDown)
      if (isUnsafeToRepeat(request) && (await mayBeProcessed(response))) throw new LostResponse()
      return response
    } catch (error) {
      if (request.signal.aborted) throw error
      reachability.setUnreachable(true)
      throw isUnsafeToRepeat(request) ? new LostResponse(error) : error
    }
  }

  async function mayRepeat({ method }: Request, { status }: Response): Promise<boolean> {
    if (status === 401) return deps.signInAgain()
    // Only a request that changes something carries the token of its session.
    return status === 403 && method !== 'GET' && deps.followSession()
  }

  return async (request: Request): Promise<Response> => {
    setScope(request, identity())
    const response = await attempt(request)
    if (SIGN_IN_PATHS.test(new URL(request.url).pathname)) return response
    return (await mayRepeat(request, response)) ? attempt(request) : response
  }
}

/** Whether repeating the request would do something a second time. */
function isUnsafeToRepeat({ method, headers, url }: Request): boolean {
  const { pathname } = new URL(url)
  return (
    method === 'POST' &&
    !headers.has('idempotency-key') &&
    !SIGN_IN_PATHS.test(pathname) &&
    !READ_ONLY_POSTS.test(pathname)
  )
}

/**
 * Whether the server did not answer: a gateway error of a proxy, or the server's own 503, but not one about a
 * provider.
 */
async function isServerDown(response: Response): Promise<boolean> {
  if (response.status === 502 || response.status === 504) return true
  if (response.status !== 503) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return (body as { code?: unknown } | null)?.code !== 'PROVIDER_UNAVAILABLE'
}

/**
 * Whether the response does not tell if the server has processed the request: it was cut off, or is the error of a
 * proxy that gave up waiting. The server's own 503 says that it did not.
 */
async function mayBeProcessed(response: Response): Promise<boolean> {
  const { ok, status } = response
  if (status === 502 || status === 504) return true
  if (status === 503 || !(ok || status >= 500)) return false
  return response
    .clone()
    .json()
    .then(
      () => false,
      () => true,
    )
}

/** Keeps the headers that the request already has. */
function setScope({ headers, url }: Request, identity: Identity): void {
  for (const [name, value] of Object.entries(scopeHeaders(identity, url)))
    if (!headers.has(name)) headers.set(name, value)
}

/** The token is that of the session now: of the new one, if the person had to sign in again. */
function withToken(request: Request, { csrfToken }: Identity): Request {
  if (request.method !== 'GET' && csrfToken !== null) request.headers.set('X-CSRF-Token', csrfToken)
  return request
}

import type { Away } from './away.ts'
import { takeEarly } from './early.ts'
import { LostAnswer } from './lost-answer.ts'

/** The identity that each request carries. */
export type Identity = {
  csrfToken: string | null
  accountId: string | null
  mode: 'live' | 'test'
}

export type ConsoleFetchDeps = {
  identity(): Identity
  away: Away
  /** Asks the person to sign in again; false if they do not. */
  signInAgain(): Promise<boolean>
}

/** Paths whose 401 does not mean that the session has ended. */
const DOORS = /^\/api\/console\/(?:setup|login|logout|session|invitations)\b/

/** POSTs that change nothing, and so may be repeated. */
const LOOKS = /\/(?:estimate|preview)$/

/** Has the messages of both modes, and is always read as with a test key. */
const SANDBOX = /^\/api\/v2\/sandbox\//

/**
 * Sends requests as the signed-in person. If the session has ended, a request waits until they have signed in
 * again, and is then repeated, so that input is not lost.
 */
export function createConsoleFetch({ identity, away, signInAgain }: ConsoleFetchDeps) {
  async function attempt(request: Request): Promise<Response> {
    try {
      const response = (await takeEarly(request)) ?? (await fetch(withIdentity(request.clone(), identity())))
      const unheard = await isFromNobody(response)
      away.tell(unheard)
      // With 502 and 504 the server may have processed the request; its own 503 says that it did not.
      if (unheard && response.status !== 503 && isAnother(request)) throw new LostAnswer()
      return response
    } catch (error) {
      if (request.signal.aborted) throw error
      away.tell(true)
      throw isAnother(request) ? new LostAnswer(error) : error
    }
  }

  return async (request: Request): Promise<Response> => {
    const response = await attempt(request)
    if (response.status !== 401 || DOORS.test(new URL(request.url).pathname)) return response
    return (await signInAgain()) ? attempt(request) : response
  }
}

/** Whether repeating the request would do something a second time. */
function isAnother({ method, headers, url }: Request): boolean {
  const { pathname } = new URL(url)
  return (
    method === 'POST' && !headers.has('idempotency-key') && !DOORS.test(pathname) && !LOOKS.test(pathname)
  )
}

/**
 * Whether the server did not answer: a gateway error of a proxy, or the server's own 503, but not one about a
 * provider.
 */
async function isFromNobody(response: Response): Promise<boolean> {
  if (response.status === 502 || response.status === 504) return true
  if (response.status !== 503) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return (body as { code?: unknown } | null)?.code !== 'PROVIDER_UNAVAILABLE'
}

function withIdentity(request: Request, { csrfToken, accountId, mode }: Identity): Request {
  if (request.method !== 'GET' && csrfToken !== null) request.headers.set('X-CSRF-Token', csrfToken)
  if (accountId !== null) request.headers.set('X-Posthorn-Account', accountId)
  request.headers.set('X-Posthorn-Mode', SANDBOX.test(new URL(request.url).pathname) ? 'test' : mode)
  return request
}

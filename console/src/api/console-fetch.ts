import type { Away } from './away.ts'
import { takeEarly } from './early.ts'
import { LostAnswer } from './lost-answer.ts'

/** What every request says of whoever is signed in. */
export type Identity = {
  csrfToken: string | null
  accountId: string | null
  mode: 'live' | 'test'
}

export type ConsoleFetchDeps = {
  identity(): Identity
  away: Away
  /** Asks for the password again; false where it is not given. */
  signInAgain(): Promise<boolean>
}

/** Where a 401 is an answer, or no news: not the end of a session that somebody works in. */
const DOORS = /^\/api\/console\/(?:setup|login|logout|session|invitations)\b/

/** What only looks: it may be asked as often as one likes. */
const LOOKS = /\/(?:estimate|preview)$/

/** Of both modes, and read as with a test key in either. */
const SANDBOX = /^\/api\/v2\/sandbox\//

/**
 * Sends requests as whoever is signed in. One whose session has ended waits
 * until they have signed in again and is then repeated: what was typed is not lost.
 */
export function createConsoleFetch({ identity, away, signInAgain }: ConsoleFetchDeps) {
  async function attempt(request: Request): Promise<Response> {
    try {
      const response = (await takeEarly(request)) ?? (await fetch(withIdentity(request.clone(), identity())))
      const unheard = await isFromNobody(response)
      away.tell(unheard)
      // Behind a proxy that gave up somebody may have heard it; our own 503 says that nobody did.
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

/** Whether the same once more would be done once more. */
function isAnother({ method, headers, url }: Request): boolean {
  const { pathname } = new URL(url)
  return (
    method === 'POST' && !headers.has('idempotency-key') && !DOORS.test(pathname) && !LOOKS.test(pathname)
  )
}

/** A proxy's word that nobody answers behind it, or the server's own that it cannot: not that a provider cannot. */
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

export type RetryOptions = {
  /** Retries after the first attempt; 2 by default, 0 for none. */
  retries?: number | undefined
  /** Waits between attempts; by default a timer. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

type Fetch = (request: Request) => Promise<Response>
/** `takesKey`: the server acts once on requests with the same `Idempotency-Key` here. */
type RetryingFetch = (request: Request, takesKey: boolean) => Promise<Response>

/** Statuses that are retried if the request is repeatable. */
const RETRYABLE_STATUSES = new Set([408, 429, 502, 503, 504])
const FIRST_WAIT_MS = 250
/** If the server asks for a longer wait, its response is returned to the caller. */
const MAX_WAIT_MS = 30_000

/**
 * `fetch` with safe retries: GET, HEAD and requests with an `Idempotency-Key` that the server heeds are repeated
 * if the connection failed or the response is temporary. Others never are, since the first attempt may have
 * succeeded. Waits as `Retry-After` says.
 */
export function createRetryingFetch(
  fetch: Fetch,
  { retries = 2, sleep = wait }: RetryOptions = {},
): RetryingFetch {
  return async (request, takesKey) => {
    const most = isRepeatable(request, takesKey) ? retries : 0
    for (let tried = 0; ; tried++) {
      const mayRepeat = tried < most
      const answer = await attempt(fetch, request.clone(), mayRepeat)
      const waitMs = mayRepeat ? retryDelayMs(answer, tried) : null
      if (waitMs === null || request.signal.aborted) return settle(answer)
      await discard(answer)
      await sleep(waitMs, request.signal)
    }
  }
}

type Answer = { response: Response } | { error: unknown }

function isRepeatable({ method, headers }: Request, takesKey: boolean): boolean {
  return method === 'GET' || method === 'HEAD' || (takesKey && headers.has('idempotency-key'))
}

async function attempt(fetch: Fetch, request: Request, whole: boolean): Promise<Answer> {
  try {
    const response = await fetch(request)
    return { response: whole ? await readWhole(response) : response }
  } catch (error) {
    return { error }
  }
}

/** Reads the whole body, so that a connection that breaks during the response counts as failed. */
async function readWhole(response: Response): Promise<Response> {
  // In a browser, a redirect has no body, and status 0, which no Response can be made with.
  if (response.type === 'opaqueredirect') return response
  return new Response(response.body && (await response.blob()), response)
}

/** Wait before the next attempt in ms; null if it must not be repeated. */
function retryDelayMs(answer: Answer, tried: number): number | null {
  if ('error' in answer) return backoffMs(tried)
  const { status, headers } = answer.response
  const askedMs = requestedWaitMs(headers.get('retry-after'))
  // A 409 with Retry-After: the first request with this key is still running.
  if (!RETRYABLE_STATUSES.has(status) && !(status === 409 && askedMs !== null && askedMs > 0)) return null
  if (askedMs === null) return backoffMs(tried)
  return askedMs <= MAX_WAIT_MS ? askedMs : null
}

/** Our server sends seconds; a proxy may send a date. */
function requestedWaitMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1_000
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/** Exponential backoff with jitter, so that many clients do not retry at the same time. */
function backoffMs(tried: number): number {
  return FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2)
}

function settle(answer: Answer): Response {
  if ('error' in answer) throw answer.error
  return answer.response
}

/** An unread body would keep its connection busy. */
async function discard(answer: Answer): Promise<void> {
  if ('response' in answer) await answer.response.body?.cancel()
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
  })
}

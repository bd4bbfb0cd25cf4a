export type RetryOptions = {
  /** Tries after the first; 2 when absent, 0 for none. */
  retries?: number | undefined
  /** Waits; the machine's time when absent. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

type Fetch = (request: Request) => Promise<Response>

/** Worth another try when nothing can happen twice. */
const PASSING = new Set([408, 429, 502, 503, 504])
const FIRST_WAIT_MS = 250
/** A server that asks for more is not waited for: its answer is the caller's to judge. */
const LONGEST_WAIT_MS = 30_000

/**
 * `fetch` with safe retries: reads, and what carries an `Idempotency-Key`, are
 * repeated when the connection failed or the answer says "later"; nothing else
 * ever is, since nobody knows what became of it. Waits as `Retry-After` says.
 */
export function createRetryingFetch(fetch: Fetch, { retries = 2, sleep = wait }: RetryOptions = {}): Fetch {
  return async request => {
    const most = isRepeatable(request) ? retries : 0
    for (let tried = 0; ; tried++) {
      const mayRepeat = tried < most
      const answer = await attempt(fetch, request.clone(), mayRepeat)
      const waitMs = mayRepeat ? waitBefore(answer, tried) : null
      if (waitMs === null || request.signal.aborted) return settle(answer)
      await discard(answer)
      await sleep(waitMs, request.signal)
    }
  }
}

type Answer = { response: Response } | { error: unknown }

function isRepeatable({ method, headers }: Request): boolean {
  return method === 'GET' || method === 'HEAD' || headers.has('idempotency-key')
}

async function attempt(fetch: Fetch, request: Request, whole: boolean): Promise<Answer> {
  try {
    const response = await fetch(request)
    return { response: whole ? await takeIn(response) : response }
  } catch (error) {
    return { error }
  }
}

/** With its body to the end: a line that breaks in the middle of an answer has brought none. */
async function takeIn(response: Response): Promise<Response> {
  // Of a redirect a browser gives no body, and no status that another answer could have.
  if (response.type === 'opaqueredirect') return response
  return new Response(response.body && (await response.blob()), response)
}

/** In ms; null where another try makes no sense. */
function waitBefore(answer: Answer, tried: number): number | null {
  if ('error' in answer) return backoffMs(tried)
  const { status, headers } = answer.response
  const askedMs = askedWaitMs(headers.get('retry-after'))
  // A 409 that says when to come back: the first request of this key is still under way.
  if (!PASSING.has(status) && !(status === 409 && askedMs !== null && askedMs > 0)) return null
  if (askedMs === null) return backoffMs(tried)
  return askedMs <= LONGEST_WAIT_MS ? askedMs : null
}

/** Ours says seconds; a proxy may say a date. */
function askedWaitMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1_000
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/** Doubling, with half of it by chance, so that many clients do not come back together. */
function backoffMs(tried: number): number {
  return FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2)
}

function settle(answer: Answer): Response {
  if ('error' in answer) throw answer.error
  return answer.response
}

/** A body that nobody reads would hold its connection. */
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

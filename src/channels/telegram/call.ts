import type { Readable } from 'node:stream'
import type { Api, ApiClientOptions, GrammyError, HttpError } from 'grammy'
import type { Answer, Exchange, HttpRequest } from '../http/client.ts'
import { FileUnavailable } from '../provider.ts'

/** The methods of the Bot API, as grammY writes them down. */
export type Methods = Api['raw']

/** What came of one call of a method. Nothing in it names the address, which holds the token. */
export type Called<T> =
  | { kind: 'answer'; value: T }
  | Refused
  /** An answer that is none of the Bot API's. */
  | ({ kind: 'unclear' } & AnswerHead)
  /** No connection stood: nothing left. */
  | { kind: 'unsent'; code: string }
  /** It may have arrived; no whole answer came. */
  | { kind: 'lost'; code: string }
  /** A file that it should carry ended early, so that it never arrived whole. */
  | { kind: 'cut'; error: FileUnavailable }

/** What HTTP itself says of an answer; status 0 where that was not looked at. */
type AnswerHead = Pick<Answer, 'status' | 'headers'>

export type Refused = {
  kind: 'refused'
  code: number
  description: string
  /** When to come back, in ms; of 429. */
  afterMs?: number
  /** The id under which a group goes on. */
  movedTo?: string
}

export type Wire = {
  /** What all addresses begin with, without a slash at the end. */
  root: string
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
}

/** grammY's own time-out must never be the first: signals are what ends a call. */
const NEVER_S = 2_000_000

/**
 * Calls the Bot API once. grammY makes the request and reads the answer; between the two stands our own
 * client, which tells what left from what did not. It is loaded with the first call: most installations have no bot.
 */
export async function callApi<T>(
  wire: Wire,
  token: string,
  ask: (methods: Methods) => Promise<T>,
  signal: AbortSignal,
): Promise<Called<T>> {
  const { Api } = await import('grammy')
  const api = new Api(token, {
    apiRoot: wire.root,
    timeoutSeconds: NEVER_S,
    fetch: fetchOver(wire, signal) as unknown as NonNullable<ApiClientOptions['fetch']>,
  })
  try {
    return { kind: 'answer', value: await ask(api.raw) }
  } catch (error) {
    return calledOf(error)
  }
}

/** As much of fetch's parameters as grammY uses. */
type Init = {
  method: 'POST'
  headers: Record<string, string>
  body: string | Readable
  /** Aborted where the body fails under way: it ends then as if it were whole. */
  signal: Pick<AbortSignal, 'addEventListener' | 'aborted'>
}

class NoAnswer extends Error {
  readonly called: Called<never>
  constructor(called: Called<never>) {
    super(called.kind)
    this.called = called
  }
}

function fetchOver(wire: Wire, outer: AbortSignal) {
  return async (url: string, init: Init) => {
    const stop = new AbortController()
    init.signal.addEventListener('abort', () => stop.abort())
    if (init.signal.aborted) stop.abort()
    const exchange = await wire.exchange(toRequest(url, init), AbortSignal.any([outer, stop.signal]))
    if (exchange.kind !== 'answer') throw new NoAnswer(exchange)
    const { answer } = exchange
    return { json: async () => readAnswer(answer) }
  }
}

function toRequest(url: string, { headers, body }: Init): HttpRequest {
  const { pathname, search } = new URL(url)
  return {
    method: 'POST',
    path: `${pathname}${search}`,
    headers: { 'Content-Type': headers['content-type']!, Accept: 'application/json' },
    body: typeof body === 'string' ? body : { bytes: body, lengthBytes: null },
  }
}

/** `{ok, result}` or `{ok, error_code, description}`: what is neither may be anybody's. */
function readAnswer({ status, headers, body }: Answer): object {
  const unclear = new NoAnswer({ kind: 'unclear', status, headers })
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    throw unclear
  }
  if (typeof value !== 'object' || value === null || !('ok' in value)) throw unclear
  const whole = value.ok === true ? 'result' in value : 'error_code' in value
  if (!whole) throw unclear
  return value
}

function calledOf(error: unknown): Called<never> {
  if (isRefusal(error)) return refusedOf(error)
  if (!(error instanceof Error) || error.name !== 'HttpError')
    return { kind: 'unclear', status: 0, headers: {} }
  const cause = (error as HttpError).error
  if (cause instanceof NoAnswer) return cause.called
  // A file is all that may fail besides: its bytes come from elsewhere.
  return cutBy(cause)
}

/** A call that could not be made whole, since its file failed. */
export function cutBy(error: unknown): Extract<Called<never>, { kind: 'cut' }> {
  if (error instanceof FileUnavailable) return { kind: 'cut', error }
  return { kind: 'cut', error: new FileUnavailable('the file could not be read', true) }
}

function isRefusal(error: unknown): error is GrammyError {
  return error instanceof Error && error.name === 'GrammyError'
}

function refusedOf({ error_code: code, description, parameters }: GrammyError): Called<never> {
  const { retry_after: afterS, migrate_to_chat_id: movedTo } = parameters
  if (typeof code !== 'number') return { kind: 'unclear', status: 200, headers: {} }
  return {
    kind: 'refused',
    code,
    description: typeof description === 'string' ? description : '',
    ...(typeof afterS === 'number' && { afterMs: afterS * 1_000 }),
    ...(typeof movedTo === 'number' && { movedTo: String(movedTo) }),
  }
}

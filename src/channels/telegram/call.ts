import type { Readable } from 'node:stream'
import type { Api, ApiClientOptions, GrammyError, HttpError } from 'grammy'
import type { Answer, Exchange, HttpRequest } from '../http/client.ts'
import { parseJsonObject } from '../http/inbound.ts'
import { FileUnavailable } from '../provider.ts'

/** The methods of the Bot API, by grammY's types. */
export type Methods = Api['raw']

/** The result of one call. It never contains the URL, which holds the token. */
export type CallResult<T> =
  | { kind: 'answer'; value: T }
  | Refused
  /** An answer that is not one of the Bot API's. */
  | ({ kind: 'unclear' } & AnswerHead)
  /** Not connected: nothing was sent. */
  | { kind: 'unsent'; code: string }
  /** The call may have arrived; no complete answer came. */
  | { kind: 'lost'; code: string }
  /** The upload's file ended early, so the call did not arrive complete. */
  | { kind: 'cut'; error: FileUnavailable }

/** Status and headers of the answer; status 0 where they are not known. */
type AnswerHead = Pick<Answer, 'status' | 'headers'>

export type Refused = {
  kind: 'refused'
  code: number
  description: string
  /** `retry_after` of a 429, in ms. */
  afterMs?: number
  /** The new id of a group that has become a supergroup. */
  movedTo?: string
}

export type BotApi = {
  /** The path before all methods, without a slash at the end. */
  root: string
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
}

/** Longer than any call: grammY's own time-out must not end a call, our signals do. */
const NO_TIMEOUT_S = 2_000_000

/**
 * Calls the Bot API once. grammY builds the request and reads the answer; in between, our own HTTP
 * client makes the exchange, since it knows whether a failed request was sent. grammY is loaded at the first call: most installations have no bot.
 */
export async function callApi<T>(
  botApi: BotApi,
  token: string,
  run: (methods: Methods) => Promise<T>,
  signal: AbortSignal,
): Promise<CallResult<T>> {
  const { Api } = await import('grammy')
  const api = new Api(token, {
    apiRoot: botApi.root,
    timeoutSeconds: NO_TIMEOUT_S,
    fetch: fetchOver(botApi, signal) as unknown as NonNullable<ApiClientOptions['fetch']>,
  })
  try {
    return { kind: 'answer', value: await run(api.raw) }
  } catch (error) {
    return resultOfError(error)
  }
}

/** The parameters of fetch that grammY uses. */
type Init = {
  method: 'POST'
  headers: Record<string, string>
  body: string | Readable
  /** Aborts where the body's source fails: the body itself then ends as if it were complete. */
  signal: Pick<AbortSignal, 'addEventListener' | 'aborted'>
}

class NoAnswer extends Error {
  readonly called: CallResult<never>
  constructor(called: CallResult<never>) {
    super(called.kind)
    this.called = called
  }
}

function fetchOver(botApi: BotApi, outer: AbortSignal) {
  return async (url: string, init: Init) => {
    const stop = new AbortController()
    init.signal.addEventListener('abort', () => stop.abort())
    if (init.signal.aborted) stop.abort()
    const exchange = await botApi.exchange(toRequest(url, init), AbortSignal.any([outer, stop.signal]))
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

/** `{ok, result}` or `{ok, error_code, description}`; anything else may be from a proxy. */
function readAnswer({ status, headers, body }: Answer): object {
  const unclear = new NoAnswer({ kind: 'unclear', status, headers })
  const value = parseJsonObject(body)
  if (!value || !('ok' in value)) throw unclear
  const whole = value['ok'] === true ? 'result' in value : 'error_code' in value
  if (!whole) throw unclear
  return value
}

function resultOfError(error: unknown): CallResult<never> {
  if (isRefusal(error)) return refusedOf(error)
  if (!(error instanceof Error) || error.name !== 'HttpError')
    return { kind: 'unclear', status: 0, headers: {} }
  const cause = (error as HttpError).error
  if (cause instanceof NoAnswer) return cause.called
  // Apart from the exchange only the upload's file can fail.
  return resultOfFileError(cause)
}

/** The result of a call whose file failed. */
export function resultOfFileError(error: unknown): Extract<CallResult<never>, { kind: 'cut' }> {
  if (error instanceof FileUnavailable) return { kind: 'cut', error }
  return { kind: 'cut', error: new FileUnavailable('the file could not be read', true) }
}

function isRefusal(error: unknown): error is GrammyError {
  return error instanceof Error && error.name === 'GrammyError'
}

function refusedOf({ error_code: code, description, parameters }: GrammyError): CallResult<never> {
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

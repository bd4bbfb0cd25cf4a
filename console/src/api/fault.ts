import { PosthornError, PosthornUnreachable } from '../../../sdk/index.ts'
import { LostResponse } from './lost-response.ts'

/** What to tell a person about a failed request, and whether they can retry. */
export type Fault = { title: string; text: string; requestId: string | null; canRetry: boolean }

export function faultOf(error: unknown): Fault {
  if (isFromProxy(error)) {
    const { status } = error
    return {
      title: 'A proxy in front of the server refused the request',
      text:
        status === 413
          ? 'The request is larger than the proxy allows. Whoever runs the proxy can raise its limit.'
          : `The answer has status ${status} and does not come from Posthorn.`,
      requestId: null,
      canRetry: true,
    }
  }
  if (!(error instanceof PosthornError)) {
    return {
      title: 'The server does not answer',
      text: LostResponse.isIn(error)
        ? 'The action may have been done all the same. When the server is back, check before you repeat it.'
        : 'The request is not repeated automatically. Try again when the server is back.',
      requestId: null,
      canRetry: true,
    }
  }
  const { code, message, requestId, retryAfterSeconds } = error
  const wait = retryAfterSeconds === null ? '' : ` Try again in ${retryAfterSeconds} s.`
  return {
    title: TITLES[code] ?? 'That did not work',
    text: `${message}${wait}`,
    requestId,
    canRetry: error.status === 429 || error.status >= 500,
  }
}

/** Whether a response with this status says no for good: the same request would get it again. */
export function isRefusalStatus(status: number): boolean {
  return status === 400 || status === 403 || status === 404
}

/** The same for reads, which the page repeats when the server is back. */
export function readFaultOf(error: unknown): Fault {
  const fault = faultOf(error)
  return error instanceof PosthornError || isFromProxy(error)
    ? fault
    : { ...fault, text: 'The page continues automatically when the server is back.' }
}

/**
 * A proxy refused the request for a reason of its own; a 502 and the like only mean that the server is not
 * reachable.
 */
function isFromProxy(error: unknown): error is PosthornUnreachable {
  return error instanceof PosthornUnreachable && error.status !== null && error.status < 500
}

const TITLES: Partial<Record<PosthornError['code'], string>> = {
  FORBIDDEN: 'You may not do that',
  NOT_FOUND: 'This does not exist',
  JOB_NOT_FOUND: 'This does not exist',
  RATE_LIMITED: 'Too many requests',
  INSUFFICIENT_BALANCE: 'The wallet does not cover this',
  INTERNAL_ERROR: 'Something went wrong on the server',
  SERVICE_UNAVAILABLE: 'The server cannot answer right now',
}

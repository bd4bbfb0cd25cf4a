import { PosthornError, PosthornUnreachable } from '../../../sdk/index.ts'
import { LostAnswer } from './lost-answer.ts'

/** What to tell a person about a failed request, and whether they can retry. */
export type Fault = { title: string; text: string; requestId: string | null; again: boolean }

export function faultOf(error: unknown): Fault {
  if (isFromBetween(error)) {
    const { status } = error
    return {
      title: 'Something in front of the server answered',
      text:
        status === 413
          ? 'It takes nothing so large: whoever runs it can let more through.'
          : `It did so with status ${status}, and not as the server does.`,
      requestId: null,
      again: true,
    }
  }
  if (!(error instanceof PosthornError)) {
    return {
      title: 'The server does not answer',
      text: LostAnswer.isIn(error)
        ? 'It may have been done all the same: as soon as the server is back look whether it was, before you do it again.'
        : 'Nothing is tried again by itself: do so as soon as the server is back.',
      requestId: null,
      again: true,
    }
  }
  const { code, message, requestId, retryAfterSeconds } = error
  const wait = retryAfterSeconds === null ? '' : ` Try again in ${retryAfterSeconds} s.`
  return {
    title: TITLES[code] ?? 'That did not work',
    text: `${message}${wait}`,
    requestId,
    again: error.status === 429 || error.status >= 500,
  }
}

/** The same for reads, which the page repeats when the server is back. */
export function readFaultOf(error: unknown): Fault {
  const fault = faultOf(error)
  return error instanceof PosthornError || isFromBetween(error)
    ? fault
    : { ...fault, text: 'This goes on by itself as soon as the server is back.' }
}

/**
 * A proxy refused the request for a reason of its own; a 502 and the like only mean that the server is not
 * reachable.
 */
function isFromBetween(error: unknown): error is PosthornUnreachable {
  return error instanceof PosthornUnreachable && error.status !== null && error.status < 500
}

const TITLES: Partial<Record<PosthornError['code'], string>> = {
  FORBIDDEN: 'You may not do that',
  NOT_FOUND: 'This is not there',
  RATE_LIMITED: 'Too many requests',
  INSUFFICIENT_BALANCE: 'The wallet does not cover this',
  INTERNAL_ERROR: 'Something went wrong on the server',
  SERVICE_UNAVAILABLE: 'The server cannot answer right now',
}

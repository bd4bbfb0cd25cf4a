import type { ErrorBody } from './api.ts'

export type ErrorCode = ErrorBody['code']
/** One error in a body or query; `path` with dots and brackets, as in `options.scheduleAt`. */
export type ErrorDetail = NonNullable<ErrorBody['details']>[number]

/** An error response of the server. Programs match on `code`; `message` is for people. */
export class PosthornError extends Error {
  readonly status: number
  readonly code: ErrorCode
  /** Identifies this response in the server's log. */
  readonly requestId: string
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | null
  /** Only for VERIFICATION_CODE_INVALID; null otherwise. */
  readonly attemptsRemaining: number | null

  constructor(status: number, body: ErrorBody) {
    super(body.error)
    this.name = 'PosthornError'
    this.status = status
    this.code = body.code
    this.requestId = body.requestId
    this.details = body.details ?? []
    this.retryAfterSeconds = body.retryAfterSeconds ?? null
    this.attemptsRemaining = body.attemptsRemaining ?? null
  }
}

/** There was no valid response: no connection, or a response that is not the server's, such as a proxy's page. */
export class PosthornUnreachable extends Error {
  /** The HTTP status if there was a response; null otherwise. */
  readonly status: number | null

  constructor(message: string, status: number | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'PosthornUnreachable'
    this.status = status
  }
}

import type { ErrorBody } from './api.ts'

export type ErrorCode = ErrorBody['code']
/** One fault of a body or query; `path` in dots and brackets, as in `options.scheduleAt`. */
export type ErrorDetail = NonNullable<ErrorBody['details']>[number]

/** What the server answered instead of a success. Programs match on `code`; `message` is for people. */
export class PosthornError extends Error {
  readonly status: number
  readonly code: ErrorCode
  /** Names this answer in the server's log. */
  readonly requestId: string
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | null
  /** Of VERIFICATION_CODE_INVALID alone. */
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

/** Nobody answered: no connection, or what came back is no answer of ours, such as a proxy's page. */
export class PosthornUnreachable extends Error {
  /** HTTP's, where something answered at all. */
  readonly status: number | null

  constructor(message: string, status: number | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'PosthornUnreachable'
    this.status = status
  }
}

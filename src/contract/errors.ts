/**
 * The catalogue of all errors of the API. `status` is the HTTP status; `text` is the default public text;
 * clients match on the code only.
 */
export const CATALOGUE = {
  VALIDATION_ERROR: { status: 400, text: 'The request is not valid.' },
  CHATAPP_NOT_REGISTERED: { status: 400, text: 'The recipient is not registered on the chat app.' },
  RECIPIENT_SUPPRESSED: {
    status: 400,
    text: 'The recipient is suppressed: marketing messages are not sent to this address.',
  },
  RECIPIENT_REJECTED: { status: 400, text: 'The provider rejected the recipient.' },
  VERIFICATION_CODE_INVALID: { status: 400, text: 'The code is wrong.' },
  VERIFICATION_EXPIRED: { status: 400, text: 'The code has expired.' },
  MESSAGE_REJECTED: { status: 400, text: 'The provider rejected the message.' },
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, text: 'This operation requires the header Idempotency-Key.' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, text: 'The idempotency key is not valid.' },
  INVALID_REQUEST_BODY: { status: 400, text: 'The request body is not valid.' },
  MESSAGES_PER_SECOND_INVALID: { status: 400, text: 'messagesPerSecond must be an integer from 1 to 10.' },
  MESSAGES_REQUIRED: { status: 400, text: 'messages must be a non-empty array.' },
  INVALID_MESSAGE: { status: 400, text: 'A message of the job is not valid.' },
  UNAUTHORIZED: { status: 401, text: 'The API key is missing or not valid.' },
  TOTP_REQUIRED: { status: 401, text: 'The code of the second factor is required too.' },
  INSUFFICIENT_BALANCE: { status: 402, text: 'Neither the plan nor the wallet covers the cost.' },
  FORBIDDEN: { status: 403, text: 'This key is not allowed to do this.' },
  SUBSCRIPTION_INACTIVE: { status: 403, text: 'The subscription of this account is not active.' },
  NOT_FOUND: { status: 404, text: 'Not found.' },
  JOB_NOT_FOUND: { status: 404, text: 'There is no such bulk job.' },
  METHOD_NOT_ALLOWED: { status: 405, text: 'This path does not support the method.' },
  REQUEST_TIMEOUT: { status: 408, text: 'The request did not arrive in time.' },
  CONFLICT: { status: 409, text: 'The resource is in use or exists already.' },
  IDEMPOTENCY_KEY_CONFLICT: { status: 409, text: 'The idempotency key was used with a different body.' },
  IDEMPOTENCY_CONFLICT: { status: 409, text: 'The idempotency key was used with a different bulk job.' },
  JOB_STATE_CONFLICT: { status: 409, text: 'The status of the bulk job does not allow this.' },
  SESSION_NOT_OPEN: { status: 409, text: 'The web session is not open.' },
  TEMPLATE_EXISTS: { status: 409, text: 'A template of this name and language exists already.' },
  MESSAGE_STATE_CONFLICT: { status: 409, text: 'The status of the message does not allow this.' },
  VERIFICATION_ALREADY_USED: { status: 409, text: 'The code was used already.' },
  PAYLOAD_TOO_LARGE: { status: 413, text: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    text: 'This operation does not accept the content type or encoding.',
  },
  RANGE_NOT_SATISFIABLE: { status: 416, text: 'The range is beyond the end of the file.' },
  RATE_LIMITED: { status: 429, text: 'Too many requests.' },
  VERIFICATION_ATTEMPTS_EXHAUSTED: { status: 429, text: 'Too many wrong codes were submitted.' },
  RESEND_TOO_SOON: { status: 429, text: 'The last code was sent too recently.' },
  RESEND_LIMIT: { status: 429, text: 'No more resends are allowed for this verification.' },
  HEADERS_TOO_LARGE: { status: 431, text: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, text: 'An unexpected error occurred.' },
  PROVIDER_UNAVAILABLE: { status: 503, text: 'No provider could accept the message.' },
  SERVICE_UNAVAILABLE: { status: 503, text: 'The service is temporarily unavailable.' },
} as const satisfies Record<string, { status: number; text: string }>

export type ErrorCode = keyof typeof CATALOGUE

/** One error in a body, query or header; `path` with dots and brackets, as in `options.scheduleAt`. */
export type Detail = { path: string; message: string }

export type ProblemOptions = {
  details?: readonly Detail[]
  /** When the client may retry, in whole seconds; every 429 and 503 has it. */
  retryAfterSeconds?: number
  /** Additional public fields, such as `attemptsRemaining`. */
  extra?: Record<string, string | number>
  /** The body could not be read, so nothing was decided on it. */
  isBodyUnreadable?: true
  /** The internal reason; logged, never sent. */
  cause?: unknown
}

/** An error with its public text. Thrown by core, and converted to the error body in one place, `http/errors.ts`. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: readonly Detail[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly extra: Record<string, string | number> | undefined
  readonly isBodyUnreadable: boolean

  constructor(code: ErrorCode, text: string = CATALOGUE[code].text, options: ProblemOptions = {}) {
    super(text, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.status = CATALOGUE[code].status
    this.details = options.details
    this.extra = options.extra
    this.isBodyUnreadable = options.isBodyUnreadable === true
    const waits = this.status === 429 || this.status === 503
    this.retryAfterSeconds = waits
      ? Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1))
      : options.retryAfterSeconds
  }
}

/** The 400 for a bot or a session of a channel that nothing carries. */
export function noConnection(channel: string): Problem {
  return new Problem('VALIDATION_ERROR', `no route: no connection carries ${channel}`)
}

/** A 400 that names one field. */
export function invalid(path: string, message: string): Problem {
  return new Problem('VALIDATION_ERROR', path === '' ? message : `${path}: ${message}`, {
    details: [{ path, message }],
  })
}

/** A 415 that says what the header must be. */
export function unsupported(header: 'Content-Type' | 'Content-Encoding', message: string): Problem {
  return new Problem('UNSUPPORTED_MEDIA_TYPE', undefined, { details: [{ path: header, message }] })
}

/**
 * A 400 for a body that is truncated, malformed, or not of its declared type; `message` is the text of the
 * detail.
 */
export function unreadable(path: string, text: string, message = text): Problem {
  return new Problem('VALIDATION_ERROR', text, { details: [{ path, message }], isBodyUnreadable: true })
}

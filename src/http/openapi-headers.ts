/** The response headers that the OpenAPI document describes, by name. */
export const HEADERS = {
  'X-Request-Id': {
    description: "Identifies this response in the server's log.",
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which to retry.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description:
      'The accepted credentials: `ApiKey`, the header `X-API-Key`; `Bearer`, the operator token; ' +
      '`Cookie`, a login.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The capacity of the bucket in requests, and the seconds that refill it: `"api";q=100;w=2`.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'The remaining requests, and the seconds until the bucket is full: `"api";r=99;t=1`.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` on a response that was returned for the same key before; absent otherwise.',
    schema: { const: 'true' },
  },
  'X-Sandbox': {
    description: '`true` if the sandbox accepted or rejected the message, or would; absent otherwise.',
    schema: { const: 'true' },
  },
  ETag: {
    description: 'Identifies the content, for `If-None-Match` and, with `Range`, for `If-Range`.',
    schema: { type: 'string' },
  },
  'Accept-Ranges': {
    description: '`bytes`: `Range` may ask for a part of the file.',
    schema: { const: 'bytes' },
  },
  'Content-Range': {
    description:
      'The part and the size of the file: `bytes 0-99/2048`; in a 416 only the size: `bytes */2048`.',
    schema: { type: 'string' },
  },
  'Content-Disposition': {
    description:
      'The name of the file, and whether a browser shows it (`inline`) or saves it (`attachment`).',
    schema: { type: 'string' },
  },
  'Set-Cookie': {
    description:
      'The session, `posthorn_session`, empty after signing out. After signing in also `posthorn_browser`, by which ' +
      'the browser is recognized. Over HTTPS the names begin with `__Host-`.',
    schema: { type: 'string' },
  },
} as const

export type HeaderName = keyof typeof HEADERS

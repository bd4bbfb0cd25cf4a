import type { IncomingHttpHeaders } from 'node:http'

/** The `Idempotency-Key` header; undefined without one. What may be in it is for the operation to judge. */
export function idempotencyKeyOf({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['idempotency-key']
  return typeof key === 'string' ? key : undefined
}

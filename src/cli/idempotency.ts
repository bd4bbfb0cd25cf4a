import type { Invocation } from './client-command.ts'

/** The Idempotency-Key header; undefined without the option. */
export function idempotencyHeaders(given: Invocation): { 'idempotency-key': string } | undefined {
  const key = given.text('idempotency-key')
  return key === undefined ? undefined : { 'idempotency-key': key }
}

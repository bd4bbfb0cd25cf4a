import type { Invocation } from './client-command.ts'

/** The header by which the API knows a request that comes again. */
export function onceHeaders(given: Invocation): { 'idempotency-key': string } | undefined {
  const key = given.text('idempotency-key')
  return key === undefined ? undefined : { 'idempotency-key': key }
}

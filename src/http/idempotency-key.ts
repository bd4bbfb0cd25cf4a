import type { IncomingHttpHeaders } from 'node:http'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const BEYOND_ASCII = /[^\0-\x7f]/

/** The `Idempotency-Key` header; undefined without one. What may be in it is for the operation to judge. */
export function idempotencyKeyOf({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['idempotency-key']
  if (typeof key !== 'string') return undefined
  return BEYOND_ASCII.test(key) ? fromLatin1(key) : key
}

/**
 * Node reads the bytes of a header as Latin-1. Most clients send UTF-8, so that the key is the same text as in a
 * body; fetch sends Latin-1, whose bytes are hardly ever valid UTF-8.
 */
function fromLatin1(key: string): string {
  try {
    return UTF8.decode(Buffer.from(key, 'latin1'))
  } catch {
    return key
  }
}

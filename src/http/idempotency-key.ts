import type { IncomingMessage } from 'node:http'
import { invalid, type Problem } from '../contract/errors.ts'
import { isRepeated } from './repeated-header.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const BEYOND_ASCII = /[^\0-\x7f]/

const HEADER = 'idempotency-key'
/** How Node joins the values of a repeated header. */
const JOINT = ', '

type Refuse = (message: string) => Problem

/**
 * The `Idempotency-Key` header; undefined without one. What may be in it is for the operation to judge. Throws the error
 * that `refuse` makes if it is given twice: together, two keys are one that nobody has chosen.
 */
export function idempotencyKeyOf(
  { raw: { headers, rawHeaders } }: { raw: Pick<IncomingMessage, 'headers' | 'rawHeaders'> },
  refuse: Refuse = message => invalid('Idempotency-Key', message),
): string | undefined {
  const key = headers[HEADER]
  if (typeof key !== 'string') return undefined
  if (key.includes(JOINT) && isRepeated(rawHeaders, HEADER)) throw refuse('must be given once only')
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

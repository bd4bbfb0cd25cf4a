import type { ByteRange } from '../infra/file-store.ts'

/**
 * The part that a Range header asks for, of `size` bytes (RFC 9110, 14.2). Null
 * to send everything, as for a header that is none, or asks for several parts;
 * 'unsatisfiable' where it asks for nothing that is there.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return null
  const last = size - 1
  if (match[1] === '') {
    const suffix = Number(match[2])
    return suffix === 0 ? 'unsatisfiable' : { start: Math.max(0, size - suffix), end: last }
  }
  const start = Number(match[1])
  const end = match[2] === '' ? last : Math.min(Number(match[2]), last)
  if (match[2] !== '' && Number(match[2]) < start) return null
  return start > last ? 'unsatisfiable' : { start, end }
}

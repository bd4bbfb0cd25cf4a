import { timingSafeEqual } from 'node:crypto'

/** Compares in constant time, for secrets. False for empty texts. */
export function constantTimeEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && a.length > 0 && timingSafeEqual(a, b)
}

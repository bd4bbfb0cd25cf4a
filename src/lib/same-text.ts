import { timingSafeEqual } from 'node:crypto'

/** Compares in a time that does not depend on where they differ. An empty text equals nothing. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && a.length > 0 && timingSafeEqual(a, b)
}

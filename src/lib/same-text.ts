import { timingSafeEqual } from 'node:crypto'

/** Compares in a time that tells nothing about where they differ; nothing is the same as no text. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && a.length > 0 && timingSafeEqual(a, b)
}

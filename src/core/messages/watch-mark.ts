/** How far somebody has been told, and when that was so. */
export type Mark = { behind: number; atMs: number }

/** As the `id` of a server-sent event has it. */
export function writeMark({ behind, atMs }: Mark): string {
  return `${behind}-${atMs}`
}

/** Null for one that is none, or from before `sinceMs`. */
export function readMark(text: string | undefined, sinceMs: number): Mark | null {
  const [, behind, atMs] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  if (behind === undefined || Number(atMs) < sinceMs) return null
  return { behind: Number(behind), atMs: Number(atMs) }
}

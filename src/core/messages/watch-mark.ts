/** The position of a stream in the account's moves, and its time. */
export type Mark = { behind: number; atMs: number }

/** For the `id` of a server-sent event. */
export function writeMark({ behind, atMs }: Mark): string {
  return `${behind}-${atMs}`
}

/** Null for an invalid text, or a time before `sinceMs`. */
export function readMark(text: string | undefined, sinceMs: number): Mark | null {
  const [, behind, atMs] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  if (behind === undefined || Number(atMs) < sinceMs) return null
  return { behind: Number(behind), atMs: Number(atMs) }
}

/** The position of a stream in the account's moves, and its time. */
export type StreamCursor = { afterId: number; atMs: number }

/** For the `id` of a server-sent event. */
export function writeStreamCursor({ afterId, atMs }: StreamCursor): string {
  return `${afterId}-${atMs}`
}

/** Null for an invalid text, or a time before `sinceMs`. */
export function readStreamCursor(text: string | undefined, sinceMs: number): StreamCursor | null {
  const [, behind, atMs] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  if (behind === undefined || Number(atMs) < sinceMs) return null
  return { afterId: Number(behind), atMs: Number(atMs) }
}

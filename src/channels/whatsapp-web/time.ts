/** In ms since the epoch, from the chat app's seconds, which the library gives in several types; null without a time. */
export function timeOf(seconds: unknown): number | null {
  const ms = Number(seconds ?? 0) * 1_000
  return ms > 0 ? ms : null
}

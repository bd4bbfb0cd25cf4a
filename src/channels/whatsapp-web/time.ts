/** In ms since the epoch, of what the chat app counts in seconds and its library writes in several ways; null where it says none. */
export function timeOf(seconds: unknown): number | null {
  const ms = Number(seconds ?? 0) * 1_000
  return ms > 0 ? ms : null
}

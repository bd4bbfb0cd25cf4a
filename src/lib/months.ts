/** The first instant of the month after the one of `atMs`, by UTC, in ms since the epoch. */
export function nextMonthUtcMs(atMs: number): number {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
}

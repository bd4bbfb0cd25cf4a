/** A smaller difference is ignored: the server's time is known to the second, and as late as its response. */
const TOLERANCE_MS = 10_000

/** How far the server's clock is ahead of the browser's. */
let aheadMs = 0

/**
 * The time by the server's clock, in ms since the epoch. The browser's may be wrong by days: then periods would miss
 * what was just sent, and what can be done in a minute would have to wait for a day.
 */
export function nowMs(): number {
  return Date.now() + aheadMs
}

/** Learns the server's time from a response to a request that was sent at `sentAtMs` of the browser's clock. */
export function learnServerTime({ headers }: Response, sentAtMs: number): void {
  const serverMs = Date.parse(headers.get('date') ?? '')
  const receivedAtMs = Date.now()
  // A response that took long, perhaps since the machine slept, says less.
  if (Number.isNaN(serverMs) || receivedAtMs - sentAtMs > TOLERANCE_MS) return
  const differenceMs = serverMs - receivedAtMs
  aheadMs = Math.abs(differenceMs) > TOLERANCE_MS ? differenceMs : 0
}

import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'

/**
 * When the rows of a lane were at their providers, as far as one can tell from here: a row that
 * had to wait for a connection, or for this process, the network or a provider that was busy, is
 * there later than one that left a window behind it, and both would come within one second.
 * Its answer bounds that: what is slower than usual may have come so much later, and counts from then.
 */
export type Arrivals = {
  /** Follows one row. `used` is told from when it counts (monotonic, ms); without a time it is now. Its first call holds. */
  follow(used: (atMs?: number) => void): SubmitCallbacks
}

/** An answer that is later than usual by this is not waited for: its row may have come in time, and waiting costs the pace. */
const MOST_LATE_MS = 100
/** A provider that usually takes this long is not waited for: each row would take its place for all of a second. */
const SLOW_MS = 750
/** How far an answer moves what is usual towards itself: a quicker one by DOWN of the way, a slower one by UP. */
const DOWN = 1 / 4
const UP = 1 / 16

/** `isBusy`: so many rows go that none is followed; they count from when they leave. */
export function createArrivals(clock: Clock, isBusy: () => boolean): Arrivals {
  const usualMs = new Map<ConnectionId, number>()

  function learn(connectionId: ConnectionId, tookMs: number): void {
    const usual = usualMs.get(connectionId) ?? tookMs
    const way = Math.min(tookMs - usual, MOST_LATE_MS) * (tookMs < usual ? DOWN : UP)
    usualMs.set(connectionId, usual + way)
  }

  return {
    follow(used) {
      let answered = () => {}
      return {
        submitted(connectionId) {
          if (connectionId === null || isBusy()) return used()
          const leftMs = clock.monotonic()
          const usual = usualMs.get(connectionId) ?? 0
          const giveUp =
            usual < SLOW_MS
              ? clock.after(usual + MOST_LATE_MS, () => used(leftMs + MOST_LATE_MS))
              : used(leftMs)
          answered = () => {
            answered = () => {}
            const tookMs = clock.monotonic() - leftMs
            giveUp?.()
            learn(connectionId, tookMs)
            used(leftMs + Math.max(0, tookMs - usual))
          }
        },
        answered: () => answered(),
      }
    },
  }
}

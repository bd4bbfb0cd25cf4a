import type { Leaving } from '../core/outbox/dispatch-port.ts'
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
  follow(used: (atMs?: number) => void): Leaving
}

/** Whoever has not answered so long after the usual is not waited for, in ms: the job would stand still with its provider. */
const MOST_LATE_MS = 500
/** Of a provider that takes so long each time it is not known when it has a message, and waiting for it would cost the pace. */
const SLOW_MS = 400
/** What is usual is the quickest answer of late: each slower one moves it so much of the way. */
const FORGETS = 1 / 16

/** `isBusy`: so many rows go that none is followed; they count from when they leave. */
export function createArrivals(clock: Clock, isBusy: () => boolean): Arrivals {
  const usualMs = new Map<ConnectionId, number>()

  function learn(connectionId: ConnectionId, tookMs: number): void {
    const usual = usualMs.get(connectionId) ?? tookMs
    usualMs.set(connectionId, tookMs < usual ? tookMs : usual + (tookMs - usual) * FORGETS)
  }

  return {
    follow(used) {
      let answered = () => {}
      return {
        left(connectionId) {
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

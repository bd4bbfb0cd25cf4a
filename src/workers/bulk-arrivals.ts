import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'

/**
 * Estimates when the rows of a lane arrived at their providers. A row that was delayed by the connection, this
 * process, the network or a busy provider arrives later than planned, and a row that leaves one window after it
 * might arrive within the same second. The response time bounds the delay: a response that is slower than usual
 * by some time means that the row may have arrived that much later, and it counts from then.
 */
export type Arrivals = {
  /** Follows one row. Calls `used` with the time from which the row counts (monotonic, ms; now by default). Only the first call counts. */
  follow(used: (atMs?: number) => void): SubmitCallbacks
}

/** A response that is later than usual by this is no longer waited for: its row may have arrived in time, and waiting slows the lane down. */
const MAX_DELAY_MS = 100
/** Responses of a provider that usually takes this long are not waited for: each row would occupy its slot for a whole second. */
const SLOW_MS = 750
/** The weight of a new response time in the moving average: DOWN for a faster response, UP for a slower one. */
const FASTER_WEIGHT = 1 / 4
const SLOWER_WEIGHT = 1 / 16

/** While `isBusy`, rows are not followed: they count from when they leave. */
export function createArrivals(clock: Clock, isBusy: () => boolean): Arrivals {
  const usualMs = new Map<ConnectionId, number>()

  function learn(connectionId: ConnectionId, tookMs: number): void {
    const usual = usualMs.get(connectionId) ?? tookMs
    const step = Math.min(tookMs - usual, MAX_DELAY_MS) * (tookMs < usual ? FASTER_WEIGHT : SLOWER_WEIGHT)
    usualMs.set(connectionId, usual + step)
  }

  return {
    follow(used) {
      let answered = () => {}
      return {
        submitted(connectionId) {
          if (connectionId === null || isBusy()) return used()
          const leftMs = clock.monotonic()
          const usual = usualMs.get(connectionId) ?? 0
          const cancelTimeout =
            usual < SLOW_MS
              ? clock.after(usual + MAX_DELAY_MS, () => used(leftMs + MAX_DELAY_MS))
              : used(leftMs)
          answered = () => {
            answered = () => {}
            const tookMs = clock.monotonic() - leftMs
            cancelTimeout?.()
            learn(connectionId, tookMs)
            used(leftMs + Math.max(0, tookMs - usual))
          }
        },
        answered: () => answered(),
      }
    },
  }
}

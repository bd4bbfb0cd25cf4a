import type { Clock } from '../../lib/clock.ts'
import { createLinkedQueue } from '../../lib/linked-queue.ts'

/** The wait of one caller. */
export type Wait = {
  /** It ended by time, before `leave`. */
  hasTimedOut: boolean
}

/** Ends waits after a time; those that begin within `SHARED_MS` share a timer. */
export type Patience = {
  /** Calls `end` when the time is over, unless `leave` was called before. */
  enter(end: () => void): Wait
  leave(wait: Wait): void
}

/** How much longer a wait may take because of the shared timer, in ms. */
const SHARED_MS = 250

type Waiting = Wait & { end(): void; leave(): void }

export function createPatience(clock: Clock, patienceMs: number): Patience {
  let generation = createLinkedQueue<Waiting>()
  let startedMs = Number.NEGATIVE_INFINITY

  function begin(nowMs: number): void {
    const mine = createLinkedQueue<Waiting>()
    generation = mine
    startedMs = nowMs
    clock.after(patienceMs + SHARED_MS, () => {
      for (const wait of mine.all()) {
        wait.hasTimedOut = true
        wait.end()
        wait.leave()
      }
    })
  }

  return {
    enter(end) {
      const nowMs = clock.monotonic()
      if (nowMs - startedMs >= SHARED_MS) begin(nowMs)
      const wait: Waiting = { hasTimedOut: false, end, leave: () => {} }
      wait.leave = generation.add(wait)
      return wait
    },
    leave: wait => (wait as Waiting).leave(),
  }
}

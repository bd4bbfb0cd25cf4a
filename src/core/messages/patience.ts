import type { Clock } from '../../lib/clock.ts'
import { createLine } from '../../lib/line.ts'

/** One caller's wait. */
export type Wait = {
  /** Its patience ended before it was answered. */
  over: boolean
}

/** Ends waits after a time; all that begin within the same moment share a timer. */
export type Patience = {
  /** `end` runs when the wait is over, unless it was left before. */
  enter(end: () => void): Wait
  leave(wait: Wait): void
}

/** How much longer than promised a wait may take: the price of a shared timer. */
const SHARED_MS = 250

type Waiting = Wait & { end(): void; leave(): void }

export function createPatience(clock: Clock, patienceMs: number): Patience {
  let generation = createLine<Waiting>()
  let startedMs = Number.NEGATIVE_INFINITY

  function begin(nowMs: number): void {
    const mine = createLine<Waiting>()
    generation = mine
    startedMs = nowMs
    clock.after(patienceMs + SHARED_MS, () => {
      for (const wait of mine.all()) {
        wait.over = true
        wait.end()
        wait.leave()
      }
    })
  }

  return {
    enter(end) {
      const nowMs = clock.monotonic()
      if (nowMs - startedMs >= SHARED_MS) begin(nowMs)
      const wait: Waiting = { over: false, end, leave: () => {} }
      wait.leave = generation.enter(wait)
      return wait
    },
    leave: wait => (wait as Waiting).leave(),
  }
}

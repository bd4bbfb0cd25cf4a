import type { Clock } from '../lib/clock.ts'
import { createLine } from '../lib/line.ts'

/** Work with a deadline: aborted when it is over, and told so when it does not even heed that. */
export type Deadline = {
  signal: AbortSignal
  /** Calls `overdue` when the work has not left within the grace after the abort. Returns how to leave. */
  enter(overdue: () => void): () => void
}

export type Deadlines = { current(): Deadline }

type Generation = Deadline & { startedMs: number }

/**
 * Deadlines for many short pieces of work: all that start within the same second
 * share one signal and one timer, which a message a microsecond cannot each have.
 */
export function createDeadlines(clock: Clock, timeoutMs: number, graceMs: number): Deadlines {
  const SHARED_MS = 1_000
  let generation: Generation | null = null

  function begin(startedMs: number): Generation {
    const controller = new AbortController()
    const inside = createLine<() => void>()
    clock.after(SHARED_MS + timeoutMs, () => {
      controller.abort(new Error('the time for this attempt is over'))
      clock.after(graceMs, () => {
        for (const overdue of inside.all()) overdue()
      })
    })
    return {
      startedMs,
      signal: controller.signal,
      enter: inside.enter,
    }
  }

  return {
    current() {
      const nowMs = clock.monotonic()
      if (!generation || nowMs - generation.startedMs >= SHARED_MS) generation = begin(nowMs)
      return generation
    },
  }
}

import type { Clock } from '../lib/clock.ts'
import { createLinkedQueue } from '../lib/linked-queue.ts'

/** A deadline for work: when it passes, the signal is aborted; work that ignores this is overdue after a grace. */
export type Deadline = {
  signal: AbortSignal
  /** Calls `overdue` when the work has not left within the grace after the abort. Returns how to leave. */
  enter(overdue: () => void): () => void
}

export type Deadlines = {
  current(): Deadline
  /** Ends the deadlines of all work that has begun; its grace is over after `graceMs`. */
  endAll(graceMs: number): void
}

type Generation = Deadline & { startedMs: number; end(graceMs: number): void }

/**
 * Deadlines for many short pieces of work: all that start within the same second
 * share one signal and one timer, since one for each message would cost too much.
 */
export function createDeadlines(clock: Clock, timeoutMs: number, graceMs: number): Deadlines {
  const SHARED_MS = 1_000
  let generation: Generation | null = null
  const running = new Set<Generation>()

  function begin(startedMs: number): Generation {
    const controller = new AbortController()
    const inside = createLinkedQueue<() => void>()
    const begun: Generation = {
      startedMs,
      signal: controller.signal,
      enter: inside.add,
      end(grace) {
        controller.abort(new Error('the attempt exceeded its deadline'))
        clock.after(grace, () => {
          running.delete(begun)
          for (const overdue of inside.all()) overdue()
        })
      },
    }
    running.add(begun)
    clock.after(SHARED_MS + timeoutMs, () => {
      if (running.has(begun)) begun.end(graceMs)
    })
    return begun
  }

  return {
    current() {
      const nowMs = clock.monotonic()
      if (!generation || nowMs - generation.startedMs >= SHARED_MS) generation = begin(nowMs)
      return generation
    },
    endAll(grace) {
      generation = null
      for (const begun of running) begun.end(grace)
    },
  }
}

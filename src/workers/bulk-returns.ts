import type { Leaving } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { JobInHand } from './bulk-job.ts'

/** A message of a job that was handed over before, and is to leave now: it was thrown back, or waited in the outbox. */
export type Returning = {
  /** It has a place of its job's window and of the account's. */
  go(leaving: Leaving): void
  /** It is to come again at this time (ms since the epoch): more are here than may leave in a second, or none may. */
  later(dueAtMs: number): void
}

/** The messages of a lane that came back. They leave in the same windows as its rows, and before them. */
export type Returns = {
  /** `perSecond`: at most so many of this job may leave. */
  add(known: JobInHand, returning: Returning, perSecond: number): void
  /** Lets go of those that may leave now; those whose job does not send any more come again. */
  serve(may: (known: JobInHand) => 'go' | 'wait' | 'later', take: (known: JobInHand) => Leaving): void
  /** Jobs that have one here. */
  waiting(): Iterable<JobInHand>
  /** All of them come again. */
  drain(): void
}

/** A message whose job does not send now comes again after so long, in ms. */
export const RETURN_MS = 2_000

export function createReturns(clock: Clock): Returns {
  let here: { known: JobInHand; returning: Returning }[] = []
  /** When the last of those that came again does, by the monotonic clock: each has a time of its own. */
  let againMs = Number.NEGATIVE_INFINITY

  return {
    add(known, returning, perSecond) {
      if (here.length < perSecond) {
        here.push({ known, returning })
        return
      }
      const nowMs = clock.monotonic()
      againMs = Math.max(againMs, nowMs + 1_000) + 1_000 / perSecond
      returning.later(clock.now() + againMs - nowMs)
    },
    serve(may, take) {
      const all = here
      here = []
      for (const each of all) {
        const verdict = may(each.known)
        if (verdict === 'wait') here.push(each)
        else if (verdict === 'go') each.returning.go(take(each.known))
        else each.returning.later(clock.now() + RETURN_MS)
      }
    },
    waiting: () => here.map(each => each.known),
    drain() {
      const all = here
      here = []
      for (const { returning } of all) returning.later(clock.now())
    },
  }
}

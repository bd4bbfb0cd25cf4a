import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import type { JobInHand } from './bulk-job.ts'

/** A message of a job that was handed over before, and is to leave now: it was thrown back, or waited in the outbox. */
export type Returning = {
  /** It has a place of its job's window and of the account's. */
  go(leaving: SubmitCallbacks): void
  /**
   * It goes back to the outbox: more of its job are here than may leave in a second, or none may leave now.
   * `perSecond` is the pace at which messages of the job come again.
   */
  later(perSecond?: number): void
}

/** The messages of a lane that came back. They leave in the same windows as its rows, and before them. */
export type Returns = {
  /** `perSecond`: at most so many of this job may leave. */
  add(known: JobInHand, returning: Returning, perSecond: number): void
  /** Lets go of those that may leave now; those whose job does not send any more come again. */
  serve(may: (known: JobInHand) => 'go' | 'wait' | 'later', take: (known: JobInHand) => SubmitCallbacks): void
  /** Jobs that have one here. */
  waiting(): Iterable<JobInHand>
  /** All of them come again. */
  drain(): void
}

export function createReturns(): Returns {
  let here: { known: JobInHand; returning: Returning }[] = []

  return {
    add(known, returning, perSecond) {
      if (here.filter(each => each.known === known).length < perSecond) here.push({ known, returning })
      else returning.later(perSecond)
    },
    serve(may, take) {
      const all = here
      here = []
      for (const each of all) {
        const verdict = may(each.known)
        if (verdict === 'wait') here.push(each)
        else if (verdict === 'go') each.returning.go(take(each.known))
        else each.returning.later()
      }
    },
    waiting: () => here.map(each => each.known),
    drain() {
      const all = here
      here = []
      for (const { returning } of all) returning.later()
    },
  }
}

import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import type { JobInHand } from './bulk-job.ts'

/** A message of a job that was handed over before and is to be sent again: its provider did not take it, or it waited in the outbox. */
export type Returning = {
  /** Sends it: it has a slot of its job's window and of the account's. */
  go(leaving: SubmitCallbacks): void
  /**
   * Returns it to the outbox: more of its job are here than may be sent in a second, or none may be sent now.
   * `perSecond` is the rate at which messages of the job are due again.
   */
  later(perSecond?: number): void
}

/** The messages of a lane that are to be sent again. They take slots of the same windows as its rows, and before them. */
export type Returns = {
  /** At most `perSecond` of a job wait here; further ones return to the outbox. */
  add(known: JobInHand, returning: Returning, perSecond: number): void
  /** Sends those that may go now; returns those whose job does not send any more to the outbox. */
  serve(may: (known: JobInHand) => 'go' | 'wait' | 'later', take: (known: JobInHand) => SubmitCallbacks): void
  /** The jobs with a message here. */
  waiting(): Iterable<JobInHand>
  /** Returns all of them to the outbox. */
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

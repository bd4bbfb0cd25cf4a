import type { SubmitCallbacks } from '../core/outbox/dispatch-port.ts'
import type { JobState } from './bulk-job.ts'

/** A message of a job that was handed over before and is to be sent again: its provider did not take it, or it waited in the outbox. */
export type Returning = {
  /** Sends it: it has a slot of its job's window and of the account's. */
  send(leaving: SubmitCallbacks): void
  /**
   * Returns it to the outbox: more of its job are here than may be sent in a second, or none may be sent now.
   * `perSecond` is the rate at which messages of the job are due again.
   */
  defer(perSecond?: number): void
}

/** The messages of a lane that are to be sent again. They take slots of the same windows as its rows, and before them. */
export type Returns = {
  /** At most `perSecond` of a job wait here; further ones return to the outbox. */
  add(state: JobState, returning: Returning, perSecond: number): void
  /** Sends those that may go now; returns those whose job does not send any more to the outbox. */
  serve(
    verdictOf: (state: JobState) => 'go' | 'wait' | 'later',
    takeSlot: (state: JobState) => SubmitCallbacks,
  ): void
  /** The jobs with a message here. */
  waiting(): Iterable<JobState>
  /** Returns all of them to the outbox. */
  deferAll(): void
}

export function createReturns(): Returns {
  let waitingItems: { state: JobState; returning: Returning }[] = []

  return {
    add(state, returning, perSecond) {
      if (waitingItems.filter(each => each.state === state).length < perSecond)
        waitingItems.push({ state, returning })
      else returning.defer(perSecond)
    },
    serve(verdictOf, takeSlot) {
      const all = waitingItems
      waitingItems = []
      for (const each of all) {
        const verdict = verdictOf(each.state)
        if (verdict === 'wait') waitingItems.push(each)
        else if (verdict === 'go') each.returning.send(takeSlot(each.state))
        else each.returning.defer()
      }
    },
    waiting: () => waitingItems.map(each => each.state),
    deferAll() {
      const all = waitingItems
      waitingItems = []
      for (const { returning } of all) returning.defer()
    },
  }
}

import type { OpenLink } from '../channels/links.ts'
import type { Outcome } from '../channels/provider.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createDeadlines } from './deadlines.ts'
import { type FileSources, toOutgoing } from './outgoing.ts'

/** Submits one message. Always resolves with an outcome: without an answer in time it is `unknown`. */
export type Submitter = {
  (open: OpenLink, item: OutboxItem, attempt: number): Promise<Outcome>
  /** Stops waiting for the submits in progress: their outcome is `unknown`. */
  abandonAll(): void
}

export type SubmitterDeps = {
  clock: Clock
  log: Log
  files: FileSources
}

/** How long one submit may take. */
const SUBMIT_TIMEOUT_MS = 30_000
/** How long a provider may take to return after its signal was aborted. After that the outcome is `unknown`. */
const SUBMIT_GRACE_MS = 5_000
/** The same while the node stops. */
const STOPPING_GRACE_MS = 250

export function createSubmitter({ clock, log, files }: SubmitterDeps): Submitter {
  const deadlines = createDeadlines(clock, SUBMIT_TIMEOUT_MS, SUBMIT_GRACE_MS)

  const submit = (open: OpenLink, item: OutboxItem, attempt: number): Promise<Outcome> =>
    new Promise(resolve => {
      const deadline = deadlines.current()
      const leaveDeadline = deadline.enter(() =>
        resolve({ kind: 'unknown', detail: 'the provider did not answer in time' }),
      )
      const done = (outcome: Outcome) => {
        leaveDeadline()
        resolve(outcome)
      }
      // An exception is `unknown`, whether it is thrown synchronously or later.
      Promise.resolve()
        .then(() => open.link.send(toOutgoing(item, attempt, files), deadline.signal))
        .then(done, error => {
          log.warn(
            { err: error, messageId: item.id, provider: open.provider },
            'a provider threw an exception; the outcome is unknown',
          )
          done({ kind: 'unknown', detail: 'the submission failed unexpectedly' })
        })
    })

  return Object.assign(submit, { abandonAll: () => deadlines.endAll(STOPPING_GRACE_MS) })
}

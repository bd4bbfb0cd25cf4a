import type { OpenLink } from '../channels/links.ts'
import type { Outcome } from '../channels/provider.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createDeadlines } from './deadlines.ts'
import { type FileSources, toOutgoing } from './outgoing.ts'

/** One submit, which always comes to an outcome: what nobody can tell is unknown. */
export type Ask = {
  (open: OpenLink, item: OutboxItem, attempt: number): Promise<Outcome>
  /** Waits no longer for what is under way: nobody knows what becomes of it. */
  giveUp(): void
}

export type AskDeps = {
  clock: Clock
  log: Log
  files: FileSources
}

/** How long one submit may take. */
const SUBMIT_TIMEOUT_MS = 30_000
/** A provider that does not heed its signal within this is given up: nobody knows what it does. */
const SUBMIT_GRACE_MS = 5_000
/** Of those that are given up as the node leaves. */
const LEAVING_GRACE_MS = 250

export function createAsk({ clock, log, files }: AskDeps): Ask {
  const deadlines = createDeadlines(clock, SUBMIT_TIMEOUT_MS, SUBMIT_GRACE_MS)

  const ask = (open: OpenLink, item: OutboxItem, attempt: number): Promise<Outcome> =>
    new Promise(resolve => {
      const deadline = deadlines.current()
      const leave = deadline.enter(() =>
        resolve({ kind: 'unknown', detail: 'the provider did not answer in time' }),
      )
      const done = (outcome: Outcome) => {
        leave()
        resolve(outcome)
      }
      // A throw before the promise is as unknown as one after it.
      Promise.resolve()
        .then(() => open.link.send(toOutgoing(item, attempt, files), deadline.signal))
        .then(done, error => {
          log.warn({ err: error, messageId: item.id, provider: open.provider }, 'a provider threw')
          done({ kind: 'unknown', detail: 'the provider failed in an unforeseen way' })
        })
    })

  return Object.assign(ask, { giveUp: () => deadlines.end(LEAVING_GRACE_MS) })
}

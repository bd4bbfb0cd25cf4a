import type { LinkLog } from '../channels/provider.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { giveBack } from '../core/outbox/store.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import { createGenerations } from '../lib/generations.ts'
import type { Id } from '../lib/ids.ts'
import { byAccountAndId } from '../lib/lock-order.ts'
import type { Returning } from './bulk-returns.ts'

export type OfJob = OutboxItem & { bulkJobId: Id<'job'> }
/** Says when a message of a bulk job that is to leave again may do so. */
export type TurnOf = (item: OfJob, returning: Returning) => void

/** The way of a message that leaves by the outbox, or leaves again: where it is of a bulk job, it has that one's pace to keep. */
export type JobTurns = {
  onReturn(turnOf: TurnOf): void
  /** `go` when it may leave; `putOff` when it is no longer this node's, and due at that time (ms since the epoch), each of a job at another. */
  ask(item: OfJob, told: { go(): void; putOff(dueAtMs: number): void }): void
}

export type JobTurnsDeps = { db: Database; clock: Clock; log: LinkLog; node(): number }

export function isOfJob(item: OutboxItem): item is OfJob {
  return item.bulkJobId !== undefined
}

/** What was put off comes again so much later, or behind those of its job that come before it; in ms. */
const RETURN_MS = 1_000
/** As many of a job as the fastest sends. */
const RETURNED_PER_SECOND = 10
/** Jobs of which it is known when the last one does. */
const JOBS = 2_000

export function createJobTurns({ db, clock, log, node }: JobTurnsDeps): JobTurns {
  let turnOf: TurnOf = (_, returning) => returning.later()
  /** When the last one of each job that was put off comes again, by the monotonic clock. */
  const lastMs = createGenerations<OfJob['bulkJobId'], number>(JOBS)
  const returns = createBatcher<OutboxItem & { dueAtMs: number }, undefined>({
    flush: items =>
      giveBack(db, node(), items.toSorted(byAccountAndId)).then(() => items.map(() => undefined)),
  })

  /** Each at a time of its own: all of a job that is paused, at once and again and again, would be all that the store does. */
  function comesAgain(id: OfJob['bulkJobId'], perSecond = RETURNED_PER_SECOND): number {
    const nowMs = clock.monotonic()
    const againMs = Math.max(lastMs.get(id) ?? 0, nowMs + RETURN_MS) + 1_000 / perSecond
    lastMs.set(id, againMs)
    return clock.now() + againMs - nowMs
  }

  async function putOff(item: OfJob, dueAtMs: number): Promise<void> {
    await returns.add({ ...item, dueAtMs }).catch(error => {
      log.warn({ err: error, messageId: item.id }, 'a message was not put off; it is found as mislaid')
    })
  }

  return {
    onReturn(turn) {
      turnOf = turn
    },
    ask(item, told) {
      // What is looked up for it is as old as this.
      item.heldAtMs = clock.monotonic()
      turnOf(item, {
        go(leaving) {
          item.leaving = leaving
          told.go()
        },
        later(perSecond) {
          const dueAtMs = comesAgain(item.bulkJobId, perSecond)
          void putOff(item, dueAtMs).then(() => told.putOff(dueAtMs))
        },
      })
    },
  }
}

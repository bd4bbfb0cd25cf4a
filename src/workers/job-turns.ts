import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { releaseRows } from '../core/outbox/store.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import { createGenerations } from '../lib/generations.ts'
import type { Id } from '../lib/ids.ts'
import { byAccountAndId } from '../lib/lock-order.ts'
import type { Log } from '../lib/log.ts'
import type { Returning } from './bulk-returns.ts'

export type OfJob = OutboxItem & { bulkJobId: Id<'job'> }
/** Decides when a message of a bulk job that is to be sent again may be sent. */
export type TurnOf = (item: OfJob, returning: Returning) => void

/** Holds messages of bulk jobs that come from the outbox, or are sent again, to the rate of their job. */
export type JobTurns = {
  onReturn(turnOf: TurnOf): void
  /** Calls `go` when it may be sent, or `putOff` once it is back in the outbox, due then (ms since the epoch). */
  ask(item: OfJob, told: { go(): void; putOff(dueAtMs: number): void }): void
}

export type JobTurnsDeps = { db: Database; clock: Clock; log: Log; node(): number }

export function isOfJob(item: OutboxItem): item is OfJob {
  return item.bulkJobId !== undefined
}

/** A deferred message is due again this much later, or after the deferred ones of its job before it; in ms. */
const RETURN_MS = 1_000
/** The most that a job may send in a second. */
const RETURNED_PER_SECOND = 10
/** Jobs for which the due time of the last deferred message is remembered. */
const JOBS = 2_000

export function createJobTurns({ db, clock, log, node }: JobTurnsDeps): JobTurns {
  let turnOf: TurnOf = (_, returning) => returning.later()
  /** When the last deferred message of each job is due again, by the monotonic clock. */
  const lastMs = createGenerations<OfJob['bulkJobId'], number>(JOBS)
  const returns = createBatcher<OutboxItem & { dueAtMs: number }, undefined>({
    flush: items =>
      releaseRows(db, node(), items.toSorted(byAccountAndId)).then(() => items.map(() => undefined)),
  })

  /** Each at its own time: all messages of a paused job at once, again and again, would overload the database. */
  function comesAgain(id: OfJob['bulkJobId'], perSecond = RETURNED_PER_SECOND): number {
    const nowMs = clock.monotonic()
    const againMs = Math.max(lastMs.get(id) ?? 0, nowMs + RETURN_MS) + 1_000 / perSecond
    lastMs.set(id, againMs)
    return clock.now() + againMs - nowMs
  }

  async function putOff(item: OfJob, dueAtMs: number): Promise<void> {
    await returns.add({ ...item, dueAtMs }).catch(error => {
      log.warn(
        { err: error, messageId: item.id },
        'a message could not be deferred; it will be released as orphaned',
      )
    })
  }

  return {
    onReturn(turn) {
      turnOf = turn
    },
    ask(item, told) {
      // What was checked for it ages from now on (FRESH_MS in begin.ts).
      item.heldAtMs = clock.monotonic()
      turnOf(item, {
        go(leaving) {
          item.submitCallbacks = leaving
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

import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { releaseRows } from '../core/outbox/store.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import { createGenerations } from '../lib/generations.ts'
import type { Id } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Returning } from './bulk-returns.ts'

export type JobItem = OutboxItem & { bulkJobId: Id<'job'> }
/** Decides when a message of a bulk job that is to be sent again may be sent. */
export type AssignTurn = (item: JobItem, returning: Returning) => void

/** Holds messages of bulk jobs that come from the outbox, or are sent again, to the rate of their job. */
export type JobTurns = {
  onReturn(turnOf: AssignTurn): void
  /** Calls `go` when it may be sent, or `deferred` once it is back in the outbox, due then (ms since the epoch). */
  requestTurn(item: JobItem, callbacks: { go(): void; deferred(dueAtMs: number): void }): void
}

export type JobTurnsDeps = { db: Database; clock: Clock; log: Log; node(): number }

export function isJobItem(item: OutboxItem): item is JobItem {
  return item.bulkJobId !== undefined
}

/** A deferred message is due again this much later, or after the deferred ones of its job before it; in ms. */
const DEFER_MS = 1_000
/** The most that a job may send in a second. */
const DEFERRED_PER_SECOND = 10
/** Jobs for which the due time of the last deferred message is remembered. */
const MAX_JOBS = 2_000

export function createJobTurns({ db, clock, log, node }: JobTurnsDeps): JobTurns {
  let assignTurn: AssignTurn = (_, returning) => returning.defer()
  /** When the last deferred message of each job is due again, by the monotonic clock. */
  const lastDueMs = createGenerations<JobItem['bulkJobId'], number>(MAX_JOBS)
  const returns = createBatcher<OutboxItem & { dueAtMs: number }, undefined>({
    flush: items => releaseRows(db, node(), items).then(() => items.map(() => undefined)),
  })

  /** Each at its own time: all messages of a paused job at once, again and again, would overload the database. */
  function nextDueAt(id: JobItem['bulkJobId'], perSecond = DEFERRED_PER_SECOND): number {
    const nowMs = clock.monotonic()
    const againMs = Math.max(lastDueMs.get(id) ?? 0, nowMs + DEFER_MS) + 1_000 / perSecond
    lastDueMs.set(id, againMs)
    return clock.now() + againMs - nowMs
  }

  async function defer(item: JobItem, dueAtMs: number): Promise<void> {
    await returns.add({ ...item, dueAtMs }).catch(error => {
      log.warn(
        { err: error, messageId: item.id },
        'a message could not be deferred; it will be released as orphaned',
      )
    })
  }

  return {
    onReturn(turn) {
      assignTurn = turn
    },
    requestTurn(item, callbacks) {
      // What was checked for it ages from now on (FRESH_MS in attempt-recorder.ts).
      item.heldAtMs = clock.monotonic()
      assignTurn(item, {
        send(leaving) {
          item.submitCallbacks = leaving
          callbacks.go()
        },
        defer(perSecond) {
          const dueAtMs = nextDueAt(item.bulkJobId, perSecond)
          void defer(item, dueAtMs).then(() => callbacks.deferred(dueAtMs))
        },
      })
    },
  }
}

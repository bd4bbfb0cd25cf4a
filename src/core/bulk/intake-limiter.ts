import { Problem } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'

export type IntakeLimiter = {
  /** Takes a place for the intake of a job; returns how to leave it. SERVICE_UNAVAILABLE if none becomes free in time. */
  acquire(accountId: AccountId): Promise<() => void>
}

type Waiter = { accountId: AccountId; enter(): void }

/** Concurrent intakes on one node: of all accounts, and of one account. */
const MAX_AT_ONCE = 16
const MAX_PER_ACCOUNT = 8
/** Requests that wait for a place, their bodies unread. */
const MAX_WAITING = 256
const MAX_WAITING_PER_ACCOUNT = 64
/** Much longer than the intake of a short job; it is not worth waiting for a long one. */
const WAIT_MS = 5_000

/**
 * Limits concurrent intakes: each holds a connection and memory for as long as its
 * sender takes, so one account may not have all places. Further requests wait in
 * the order of their arrival.
 */
export function createIntakeLimiter(clock: Pick<Clock, 'after'>): IntakeLimiter {
  const taken: AccountId[] = []
  const line: Waiter[] = []

  function isFreeFor(accountId: AccountId): boolean {
    return taken.length < MAX_AT_ONCE && countOf(taken, accountId) < MAX_PER_ACCOUNT
  }

  function occupy(accountId: AccountId): () => void {
    taken.push(accountId)
    return () => {
      taken.splice(taken.indexOf(accountId), 1)
      callNext()
    }
  }

  /** Admits the first waiting request with room; those before it may wait for other jobs of their own account. */
  function callNext(): void {
    const at = line.findIndex(({ accountId }) => isFreeFor(accountId))
    if (at !== -1) line.splice(at, 1)[0]!.enter()
  }

  function wait(accountId: AccountId): Promise<() => void> {
    const ofAccount = line.filter(waiter => waiter.accountId === accountId).length
    if (line.length >= MAX_WAITING || ofAccount >= MAX_WAITING_PER_ACCOUNT) throw full()
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const waiter: Waiter = {
      accountId,
      enter() {
        cancel()
        resolve(occupy(accountId))
      },
    }
    const cancel = clock.after(WAIT_MS, () => {
      line.splice(line.indexOf(waiter), 1)
      reject(full())
    })
    line.push(waiter)
    return promise
  }

  return {
    acquire: async accountId => (isFreeFor(accountId) ? occupy(accountId) : wait(accountId)),
  }
}

function countOf(taken: readonly AccountId[], accountId: AccountId): number {
  return taken.filter(each => each === accountId).length
}

function full(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'Too many bulk jobs are being received at once.', {
    retryAfterSeconds: 5,
  })
}

import type { Clock } from '../lib/clock.ts'

/**
 * Limits how many rows of all lanes are being turned into messages at once. Thousands may be due at
 * the same moment, since jobs that began together stay in step. The rows of a second are admitted over half
 * a second, so that other requests do not have to wait for all of them.
 */
export type BulkGate = {
  /** Takes a place if one is free and it is time; with `continuesLane`, for a further row of a lane that was just admitted, always. */
  tryEnter(continuesLane: boolean): boolean
  /** Releases the place; a row that was not `sent` does not count. */
  leave(sent: boolean): void
  /** Calls `run` when it may try again, once; in the order of asking. */
  wait(run: () => void): void
}

export type BulkGateDeps = {
  clock: Clock
  /** Rows at once. */
  places: number
  /** Rows that all lanes together have due in a second. */
  duePerSecond(): number
}

/** Rows are admitted this many times faster than they fall due, to catch up after a pause of this process. */
const CATCH_UP_FACTOR = 2
/** After a pause at most this many rows are admitted at once, or the rows of PAUSE_MS where those are more. */
const MIN_BURST_ROWS = 32
const PAUSE_MS = 100

export function createBulkGate({ clock, places, duePerSecond }: BulkGateDeps): BulkGate {
  const waiting = new Set<() => void>()
  let inside = 0
  let isScheduled = false
  /**
   * Rows that may be admitted now. The rows of a lane are admitted together, which is less work for the database. So this
   * may be below 0, and there may be more rows inside than there are places.
   */
  let allowance = MIN_BURST_ROWS
  let countedMs = clock.monotonic()

  function rowsPerMs(): number {
    return (Math.max(1, duePerSecond()) * CATCH_UP_FACTOR) / 1_000
  }

  function refillAllowance(): void {
    const nowMs = clock.monotonic()
    const most = Math.max(MIN_BURST_ROWS, PAUSE_MS * rowsPerMs())
    allowance = Math.min(most, allowance + (nowMs - countedMs) * rowsPerMs())
    countedMs = nowMs
  }

  function scheduleAdmission(): void {
    if (isScheduled || waiting.size === 0 || inside >= places) return
    isScheduled = true
    refillAllowance()
    // After the events that are waiting, and after other rows that leave in the same turn of the event loop.
    if (allowance >= 1) setImmediate(admitWaiting)
    // What is due may be more by then.
    else clock.after(Math.min(PAUSE_MS, Math.ceil((1 - allowance) / rowsPerMs())), admitWaiting)
  }

  function admitWaiting(): void {
    isScheduled = false
    refillAllowance()
    for (const run of waiting) {
      if (inside >= places || allowance < 1) break
      waiting.delete(run)
      run()
    }
    scheduleAdmission()
  }

  return {
    tryEnter(continuesLane) {
      if (!continuesLane) {
        refillAllowance()
        if (inside >= places || allowance < 1) return false
      }
      inside++
      allowance--
      return true
    },
    leave(sent) {
      inside--
      if (!sent) allowance++
      scheduleAdmission()
    },
    wait(run) {
      waiting.add(run)
      scheduleAdmission()
    },
  }
}

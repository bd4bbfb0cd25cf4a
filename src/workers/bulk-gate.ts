import type { Clock } from '../lib/clock.ts'

/**
 * Rows of all lanes that are on their way to be messages at once. Thousands may be due in
 * the same moment, since jobs that began together go on together: what is due in a second
 * is let in over half of it, so that whoever asks for something else meanwhile does not
 * wait for all of it.
 */
export type BulkGate = {
  /** Takes a place if there is one and it is time; `goesOn`: for one more of a lane that was just let in, which has one anyway. */
  tryEnter(goesOn: boolean): boolean
  /** Gives the place back; what was not `sent` does not count. */
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

/** Rows come in this much faster than they fall due, to catch up after a pause of this process. */
const HASTE = 2
/** At once after a pause come in at most this many rows, or as many as PAUSE_MS lets in where that is more. */
const FEW_ROWS = 32
const PAUSE_MS = 100

export function createBulkGate({ clock, places, duePerSecond }: BulkGateDeps): BulkGate {
  const waiting = new Set<() => void>()
  let inside = 0
  let planned = false
  /**
   * Rows that may come in now. The rows of a lane come in together, which is less work for the store: so this
   * may be below 0, as there may be more inside than there are places.
   */
  let turns = FEW_ROWS
  let countedMs = clock.monotonic()

  function rowsPerMs(): number {
    return (Math.max(1, duePerSecond()) * HASTE) / 1_000
  }

  function countTurns(): void {
    const nowMs = clock.monotonic()
    const most = Math.max(FEW_ROWS, PAUSE_MS * rowsPerMs())
    turns = Math.min(most, turns + (nowMs - countedMs) * rowsPerMs())
    countedMs = nowMs
  }

  function plan(): void {
    if (planned || waiting.size === 0 || inside >= places) return
    planned = true
    countTurns()
    // Behind what came in meanwhile, and behind others that leave in the same turn.
    if (turns >= 1) setImmediate(letIn)
    // What is due may be more by then.
    else clock.after(Math.min(PAUSE_MS, Math.ceil((1 - turns) / rowsPerMs())), letIn)
  }

  function letIn(): void {
    planned = false
    countTurns()
    for (const run of waiting) {
      if (inside >= places || turns < 1) break
      waiting.delete(run)
      run()
    }
    plan()
  }

  return {
    tryEnter(goesOn) {
      if (!goesOn) {
        countTurns()
        if (inside >= places || turns < 1) return false
      }
      inside++
      turns--
      return true
    },
    leave(sent) {
      inside--
      if (!sent) turns++
      plan()
    },
    wait(run) {
      waiting.add(run)
      plan()
    },
  }
}

import type { Clock } from '../lib/clock.ts'
import { HOUR_MS } from '../lib/durations.ts'
import type { Log } from '../lib/log.ts'
import { type Loop, startLoop } from './loop.ts'

/** A small, repeatable piece of housekeeping: any node may do it at any time, twice included. */
export type Chore = {
  name: string
  everyMs: number
  /** It depends on the age of rows, and is skipped while this machine's clock cannot be trusted. */
  dependsOnClock?: true
  /** Receives the function that runs it at once, for chores that are also triggered by events. */
  registerWake?(wake: () => void): void
  run(): Promise<unknown>
}

/** Pages of one sweep: enough to keep up with any load, and bounded. */
const MAX_PAGES = 100

/** Sweeps page by page until one is not full. */
export async function sweepAll(sweepPage: () => Promise<number>, pageSize: number): Promise<void> {
  for (let page = 0; page < MAX_PAGES; page++) if ((await sweepPage()) < pageSize) return
}

/** A single failure, or a database that is down for a moment, is not worth a warning. */
const WARN_AFTER_MS = 30_000
const WARN_AT_LEAST_EVERY_MS = HOUR_MS

type ChoresDeps = {
  clock: Clock
  log: Log
  /** Rejects while this machine's clock cannot be trusted. */
  checkClock(): Promise<void>
}

/**
 * Runs each chore at its interval. A chore that fails is repeated at its next time. While it
 * keeps failing, warnings are logged at growing intervals.
 */
export function startChores(chores: readonly Chore[], deps: ChoresDeps): { stop(): Promise<void> } {
  const loops = chores.map(chore => startChore(chore, deps))
  return {
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

function startChore(chore: Chore, { clock, log, checkClock }: ChoresDeps): Loop {
  const { name, everyMs, dependsOnClock, run } = chore
  /** The failures since it last worked. */
  let failing: { sinceMs: number; times: number; warnAfterMs: number } | null = null

  function recordFailure(error: unknown): void {
    failing ??= { sinceMs: clock.monotonic(), times: 0, warnAfterMs: WARN_AFTER_MS }
    failing.times++
    const forMs = clock.monotonic() - failing.sinceMs
    if (forMs < failing.warnAfterMs) {
      log.debug({ err: error, chore: name }, 'a chore failed; it will be tried again')
      return
    }
    failing.warnAfterMs = forMs + Math.min(forMs, WARN_AT_LEAST_EVERY_MS)
    log.warn({ err: error, chore: name, times: failing.times, forMs }, 'a chore keeps failing')
  }

  const loop = startLoop({
    clock,
    everyMs,
    async round() {
      if (dependsOnClock) await checkClock()
      await run()
      if (failing && failing.warnAfterMs > WARN_AFTER_MS) log.info({ chore: name }, 'a chore works again')
      failing = null
      return undefined
    },
    onError: recordFailure,
  })
  chore.registerWake?.(loop.wake)
  return loop
}

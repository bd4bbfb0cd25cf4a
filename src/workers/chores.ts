import { type Clock, withinMs } from '../lib/clock.ts'
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
 * How many chores begin together at the start. All at once would take every connection to the database, each with empty caches,
 * while the first requests wait; and those with the same interval would meet again at each of their times.
 */
const BEGIN_AT_ONCE = 2
/** How long the next one waits for the first round of one that began, in ms. */
const FIRST_ROUND_PATIENCE_MS = 250

/**
 * Runs each chore at its interval, from now on or a few seconds later. A chore that fails is repeated at its next time.
 * While it keeps failing, warnings are logged at growing intervals.
 */
export function startChores(chores: readonly Chore[], deps: ChoresDeps): { stop(): Promise<void> } {
  const loops = new Map<Chore, Loop>()
  const waiting = [...chores]
  for (const chore of chores) chore.registerWake?.(() => loops.get(chore)?.wake())

  async function beginInTurn(): Promise<void> {
    for (let chore = waiting.shift(); chore; chore = waiting.shift()) {
      const { loop, firstRound } = startChore(chore, deps)
      loops.set(chore, loop)
      await withinMs(deps.clock, FIRST_ROUND_PATIENCE_MS, firstRound)
    }
  }

  for (let turn = 0; turn < BEGIN_AT_ONCE; turn++) void beginInTurn()
  return {
    async stop() {
      waiting.length = 0
      await Promise.all([...loops.values()].map(loop => loop.stop()))
    },
  }
}

function startChore(
  { name, everyMs, dependsOnClock, run }: Chore,
  { clock, log, checkClock }: ChoresDeps,
): { loop: Loop; firstRound: Promise<void> } {
  const firstRound = Promise.withResolvers<void>()
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

  async function work(): Promise<undefined> {
    if (dependsOnClock) await checkClock()
    await run()
    if (failing && failing.warnAfterMs > WARN_AFTER_MS) log.info({ chore: name }, 'a chore works again')
    failing = null
  }

  const loop = startLoop({
    clock,
    everyMs,
    round: () => work().finally(firstRound.resolve),
    onError: recordFailure,
  })
  return { loop, firstRound: firstRound.promise }
}

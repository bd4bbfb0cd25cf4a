import type { Clock } from '../lib/clock.ts'
import { HOUR_MS } from '../lib/durations.ts'
import type { Log } from '../lib/log.ts'
import { type Loop, startLoop } from './loop.ts'

/** A small, repeatable piece of housekeeping: any node may do it at any time, twice included. */
export type Chore = {
  name: string
  everyMs: number
  /** It goes by how old things are, and waits while this machine's clock cannot be trusted. */
  byAge?: true
  /** Gives away what has it run at once, where something other than the time asks for it. */
  wokenBy?(wake: () => void): void
  run(): Promise<unknown>
}

/** A sweep that takes so many at a time keeps up with whatever there is, and still ends. */
const MOST_PAGES = 100

/** Sweeps page by page until one is not full. */
export async function sweepAll(sweepPage: () => Promise<number>, pageSize: number): Promise<void> {
  for (let page = 0; page < MOST_PAGES; page++) if ((await sweepPage()) < pageSize) return
}

/** A failure alone, or a database that is away for a moment, is none of anybody's business. */
const WARN_AFTER_MS = 30_000
const WARN_AT_LEAST_EVERY_MS = HOUR_MS

type ChoresDeps = {
  clock: Clock
  log: Log
  /** Rejects while this machine's clock cannot be trusted. */
  checkClock(): Promise<void>
}

/**
 * Runs each chore at its pace. One that fails is tried again at its next time; one
 * that goes on failing is warned of, again and again at ever longer pauses, until it works.
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
  const { name, everyMs, byAge, run } = chore
  /** The failures since it last worked. */
  let failing: { sinceMs: number; times: number; warnAfterMs: number } | null = null

  function failed(error: unknown): void {
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
      if (byAge) await checkClock()
      await run()
      if (failing && failing.warnAfterMs > WARN_AFTER_MS) log.info({ chore: name }, 'a chore works again')
      failing = null
      return undefined
    },
    onError: failed,
  })
  chore.wokenBy?.(loop.wake)
  return loop
}

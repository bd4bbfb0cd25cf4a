import type { Clock } from '../../src/lib/clock.ts'

export type FakeClock = Clock & {
  /**
   * Advances time by `ms`, running each timer on the way at its time, in order, and letting the promises that
   * it settled run before the next one; `settle` may wait for more.
   */
  advance(ms: number, settle?: () => Promise<void>): Promise<void>
  /** Advances time by `ms` without running timers: those that became due run late, when time next advances. */
  skip(ms: number): void
  /** Moves the wall clock by `ms`, forward or back, as people and time servers do: no timer runs for that. */
  jump(ms: number): void
  /** Timers still pending. */
  pending(): number
}

type Timer = { atMs: number; order: number; run(): void }

/** A clock that stands still until it is moved. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<Timer>()
  let nowMs = startMs
  let jumpedMs = 0
  let order = 0

  function nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.atMs > untilMs) continue
      if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer
    }
    return next
  }

  return {
    now: () => nowMs + jumpedMs,
    monotonic: () => nowMs - startMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + Math.max(delayMs, 0), order: order++, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms, settle = turn) {
      const untilMs = nowMs + ms
      await settle()
      for (let timer = nextDue(untilMs); timer; timer = nextDue(untilMs)) {
        timers.delete(timer)
        nowMs = Math.max(nowMs, timer.atMs)
        timer.run()
        await settle()
      }
      nowMs = untilMs
      await settle()
    },
    skip(ms) {
      nowMs += ms
    },
    jump(ms) {
      jumpedMs += ms
    },
    pending: () => timers.size,
  }
}

/** One full iteration of the event loop: all microtasks, including nested ones, have run. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

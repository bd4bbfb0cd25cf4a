import type { Cancel, Clock } from '../lib/clock.ts'

/** Repeats a piece of work until stopped; never beside itself. */
export type Loop = {
  /** Runs it as soon as possible instead of at its time. */
  wake(): void
  /** Runs it at the latest at this time (ms since the epoch). */
  wakeAt(atMs: number): void
  /** Resolves when a round under way is over; no further one begins. */
  stop(): Promise<void>
}

export type LoopOptions = {
  clock: Clock
  everyMs: number
  /** One round; `again` asks for the next one at once. */
  round(): Promise<'again' | undefined>
  onError(error: unknown): void
}

/** The first round begins at once. */
export function startLoop(options: LoopOptions): Loop {
  const { clock } = options
  let cancel: Cancel | null = null
  /** By the monotonic clock: a wake must count also after the wall clock was set ahead, as when a machine was suspended. */
  let nextAtMs = Number.POSITIVE_INFINITY
  let running: Promise<void> | null = null
  let stopped = false

  function schedule(atMs: number): void {
    if (stopped || atMs >= nextAtMs) return
    cancel?.()
    nextAtMs = atMs
    cancel = clock.after(Math.max(0, atMs - clock.monotonic()), begin)
  }

  const monotonicAt = (wallMs: number) => clock.monotonic() + wallMs - clock.now()

  function begin(): void {
    // A round under way looks at nextAtMs when it ends.
    if (running || stopped) return
    nextAtMs = Number.POSITIVE_INFINITY
    running = round().then(wantedMs => {
      running = null
      const atMs = Math.min(nextAtMs, wantedMs)
      nextAtMs = Number.POSITIVE_INFINITY
      schedule(atMs)
    })
  }

  async function round(): Promise<number> {
    try {
      if ((await options.round()) === 'again') return clock.monotonic()
    } catch (error) {
      options.onError(error)
    }
    return clock.monotonic() + options.everyMs
  }

  schedule(clock.monotonic())
  return {
    wake: () => schedule(clock.monotonic()),
    wakeAt: atMs => schedule(monotonicAt(atMs)),
    async stop() {
      stopped = true
      cancel?.()
      await running
    },
  }
}

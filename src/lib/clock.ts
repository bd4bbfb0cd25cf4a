/** A running timer; calling it stops it. */
export type Cancel = () => void

/** The source of time. It is passed in, so that a test can use a clock that it moves by hand. */
export type Clock = {
  /** Wall time in milliseconds since the epoch. */
  now(): number
  /** Milliseconds that never run backwards; only differences are meaningful. */
  monotonic(): number
  /**
   * Calls `run` once after `delayMs`, and after input that had arrived by then was read. A pending timer does
   * not keep the process alive.
   */
  after(delayMs: number, run: () => void): Cancel
}

/** setTimeout takes at most 2^31-1 ms and fires at once beyond it. */
const MAX_TIMER_MS = 2_147_483_647

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    let due: NodeJS.Immediate | undefined
    // A process that was frozen or busy finds its timers expired before it has read the input that arrived
    // meanwhile. setImmediate lets it read that input first, so that an answer that has arrived is not taken
    // for a time-out.
    const timer = setTimeout(
      () => {
        due = setImmediate(run)
      },
      Math.min(Math.max(delayMs, 0), MAX_TIMER_MS),
    )
    timer.unref()
    return () => {
      clearTimeout(timer)
      clearImmediate(due)
    }
  },
}

/** Milliseconds since the epoch in the API's format: ISO 8601, UTC, milliseconds. */
export function toIso(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** `toIso`, but null stays null. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : toIso(atMs)
}

/** The result of `work`; `false` if it takes longer than `timeoutMs` or fails. Never rejects. */
export function withinMs<T>(clock: Clock, timeoutMs: number, work: Promise<T>): Promise<T | false> {
  return new Promise(resolve => {
    const cancel = clock.after(timeoutMs, () => resolve(false))
    work.then(resolve, () => resolve(false)).finally(cancel)
  })
}

/** Runs `work` with a signal that aborts after `timeoutMs`; what `work` does about it is its own decision. */
export async function within<T>(
  clock: Pick<Clock, 'after'>,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(timeoutMs, () => late.abort(new Error(`it took longer than ${timeoutMs} ms`)))
  try {
    return await work(late.signal)
  } finally {
    cancel()
  }
}

/** Resolves after `delayMs`; like every timer here it does not keep the process alive. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise(resolve => {
    clock.after(delayMs, resolve)
  })
}

/** `pause` that also ends when the signal aborts. Leaves neither a timer nor a listener behind. */
export function pauseUnlessAborted(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end)
  })
}

/** The result of `work`, or null if the signal aborts first; `work` itself is not stopped. */
export function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stopWaiting = () => resolve(null)
    if (signal.aborted) stopWaiting()
    signal.addEventListener('abort', stopWaiting)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stopWaiting))
  })
}

/**
 * Keeps the process alive until `work` is done; for work that may wait only for timers, which do not keep it
 * alive.
 */
export async function keepProcessAlive<T>(work: Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, MAX_TIMER_MS)
  try {
    return await work
  } finally {
    clearInterval(hold)
  }
}

/** A running timer; calling it stops it. */
export type Cancel = () => void

/**
 * Where time comes from. Handed to whatever needs it, so that a test can stand
 * in a clock it moves by hand.
 */
export type Clock = {
  /** Wall time in milliseconds since the epoch. */
  now(): number
  /** Milliseconds that never run backwards; only differences mean anything. */
  monotonic(): number
  /**
   * Calls `run` once after `delayMs`, and after what had come in by then. A pending timer does not keep the
   * process alive.
   */
  after(delayMs: number, run: () => void): Cancel
}

/** setTimeout takes at most 2^31-1 ms and fires at once beyond it. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    let due: NodeJS.Immediate | undefined
    // A process that stood still, frozen or busy, finds its timers run out before it has read what came in
    // meanwhile: one look later, an answer that lies there is no silence.
    const timer = setTimeout(
      () => {
        due = setImmediate(run)
      },
      Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS),
    )
    timer.unref()
    return () => {
      clearTimeout(timer)
      clearImmediate(due)
    }
  },
}

/** Milliseconds since the epoch as the wire writes a time: ISO 8601, UTC, milliseconds. */
export function toIso(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** The same of a time that there may not be. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : toIso(atMs)
}

/** What the work comes to; `false` where it takes longer than `timeoutMs`, or fails. Never rejects. */
export function withinMs<T>(clock: Clock, timeoutMs: number, work: Promise<T>): Promise<T | false> {
  return new Promise(resolve => {
    const cancel = clock.after(timeoutMs, () => resolve(false))
    work.then(resolve, () => resolve(false)).finally(cancel)
  })
}

/** Does work with a signal that aborts after so much time; what the work then does is its own. */
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

/** The same, or until the signal aborts; nothing of it is left behind. */
export function pauseUnless(
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

/** What the work comes to, or null where the signal aborts before; the work itself is left to end as it may. */
export function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** Keeps the process alive until `work` is done, for work that may wait for nothing but timers. */
export async function awake<T>(work: Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, LONGEST_TIMER_MS)
  try {
    return await work
  } finally {
    clearInterval(hold)
  }
}

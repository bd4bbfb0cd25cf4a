import type { Clock } from '../../lib/clock.ts'

/** Does work with a signal that aborts after so much time, by the clock that is handed in. */
export async function within<T>(
  clock: Pick<Clock, 'after'>,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(timeoutMs, () => late.abort())
  try {
    return await work(late.signal)
  } finally {
    cancel()
  }
}

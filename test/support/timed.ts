/** Interval at which the passing of time is measured. */
const TICK_MS = 10
/** A longer tick means that the machine was busy and did not run this process. */
const MAX_TICK_MS = 50

/**
 * The result of a wait, and how long it took in ms; each period in which this process did not run counts as
 * 50 ms.
 */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; tookMs: number }> {
  let tookMs = 0
  let lastMs = performance.now()
  const tick = (): void => {
    const nowMs = performance.now()
    tookMs += Math.min(nowMs - lastMs, MAX_TICK_MS)
    lastMs = nowMs
  }
  const ticking = setInterval(tick, TICK_MS)
  try {
    const value = await work
    tick()
    return { value, tookMs }
  } finally {
    clearInterval(ticking)
  }
}

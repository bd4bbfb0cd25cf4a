/** How often it is seen that time passes. */
const TICK_MS = 10
/** A tick that took longer: the machine was busy with others, and nobody here was let run. */
const LONGEST_TICK_MS = 50

/** What a wait was answered with, and how long it took, in ms in which this process was let run. */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; tookMs: number }> {
  let tookMs = 0
  let lastMs = performance.now()
  const tick = (): void => {
    const nowMs = performance.now()
    tookMs += Math.min(nowMs - lastMs, LONGEST_TICK_MS)
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

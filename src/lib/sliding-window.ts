import type { Clock } from './clock.ts'

/**
 * So many at most within any stretch of `windowMs`, wherever it begins: not a
 * bucket, which lets twice as many through around its filling. A place that is
 * taken counts as now until it is told when it was used.
 */
export type SlidingWindow = {
  /**
   * In ms from now until a place is free by time alone; infinite while all are taken and none was used yet.
   * With `togetherMs` until the last one of those is free that follow each other so closely.
   */
  freeInMs(togetherMs?: number): number
  take(): void
  /** A place was used, now or a little before: it is free again a window after that. */
  used(atMs?: number): void
  /** A place was not used after all. */
  back(): void
  resize(places: number): void
  /** A place is taken and was not used yet. */
  isTaken(): boolean
  /** No place is taken, and none was used within the window. */
  isUnused(): boolean
}

export function createSlidingWindow(clock: Clock, places: number, windowMs: number): SlidingWindow {
  let size = places
  let taken = 0
  /** When places were used, the earliest first; from `head` on they still count. */
  let uses: number[] = []
  let head = 0

  function expire(): void {
    const beforeMs = clock.monotonic() - windowMs
    while (head < uses.length && uses[head]! <= beforeMs) head++
    if (head > 64 && head * 2 > uses.length) {
      uses = uses.slice(head)
      head = 0
    }
  }

  return {
    freeInMs(togetherMs = 0) {
      expire()
      const over = taken + (uses.length - head) - size
      const nowMs = clock.monotonic()
      let next = head + Math.max(0, over)
      let freeMs = nowMs
      if (over >= 0) {
        if (next >= uses.length) return Number.POSITIVE_INFINITY
        freeMs = Math.max(freeMs, uses[next++]! + windowMs)
      }
      while (togetherMs > 0 && next < uses.length && uses[next]! + windowMs <= freeMs + togetherMs) {
        freeMs = uses[next++]! + windowMs
      }
      return freeMs - nowMs
    },
    take() {
      taken++
    },
    used(atMs = clock.monotonic()) {
      taken--
      let at = uses.length
      while (at > head && uses[at - 1]! > atMs) at--
      uses.splice(at, 0, atMs)
    },
    back() {
      taken--
    },
    resize(next) {
      size = next
    },
    isTaken: () => taken > 0,
    isUnused() {
      expire()
      return taken === 0 && head === uses.length
    },
  }
}

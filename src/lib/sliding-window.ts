import type { Clock } from './clock.ts'

/**
 * A rate limit: at most so many uses within any period of `windowMs`. Not a token bucket, which may let twice
 * as many through around a refill. A place that was taken counts as used now until `recordUse` says when.
 */
export type SlidingWindow = {
  /**
   * ms from now until a place becomes free by the passing of time; infinite while all places are taken and
   * none was used yet. With `togetherMs`, it waits for the last of the places that become free each within so
   * much time of the one before.
   */
  freeInMs(togetherMs?: number): number
  reserve(): void
  /** A taken place was used, now or a little before: it becomes free one window after that. */
  recordUse(atMs?: number): void
  /** Gives back a taken place that was not used. */
  release(): void
  resize(places: number): void
  /** Whether a place is taken that was not used yet. */
  hasReserved(): boolean
  /** Whether no place is taken, and none was used within the window. */
  isUnused(): boolean
}

export function createSlidingWindow(clock: Clock, places: number, windowMs: number): SlidingWindow {
  let size = places
  let reserved = 0
  /** When places were used, the earliest first; entries from `head` on still count. */
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
      const over = reserved + (uses.length - head) - size
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
    reserve() {
      reserved++
    },
    recordUse(atMs = clock.monotonic()) {
      reserved--
      let at = uses.length
      while (at > head && uses[at - 1]! > atMs) at--
      uses.splice(at, 0, atMs)
    },
    release() {
      reserved--
    },
    resize(next) {
      size = next
    },
    hasReserved: () => reserved > 0,
    isUnused() {
      expire()
      return reserved === 0 && head === uses.length
    },
  }
}

import type { Clock } from './clock.ts'

/**
 * So many at most within any stretch of `windowMs`, wherever it begins: not a
 * bucket, which lets twice as many through around its filling. A place that is
 * taken counts as now until it is told when it was used.
 */
export type SlidingWindow = {
  /** Places that may be taken now. */
  free(): number
  /** In ms from now until a place is free by time alone; infinite while all are taken and none was used yet. */
  freeInMs(): number
  take(): void
  /** A place was used, at this moment of the monotonic clock in ms, or now: it is free again a window later. */
  used(atMs?: number): void
  /** A place was not used after all. */
  back(): void
  resize(places: number): void
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
    free() {
      expire()
      return Math.max(0, size - taken - (uses.length - head))
    },
    freeInMs() {
      expire()
      const over = taken + (uses.length - head) - size
      if (over < 0) return 0
      const next = uses[head + over]
      return next === undefined ? Number.POSITIVE_INFINITY : Math.max(0, next + windowMs - clock.monotonic())
    },
    take() {
      taken++
    },
    used(atMs = clock.monotonic()) {
      taken--
      uses.push(atMs)
      // Mostly in order; one that is told late goes to its place.
      for (let at = uses.length - 1; at > head && uses[at - 1]! > atMs; at--) {
        uses[at] = uses[at - 1]!
        uses[at - 1] = atMs
      }
    },
    back() {
      taken--
    },
    resize(next) {
      size = next
    },
    isUnused() {
      expire()
      return taken === 0 && head === uses.length
    },
  }
}

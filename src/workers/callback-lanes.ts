/** Limits the concurrent requests to each receiver: many to one that responds, few to one that does not. */
export type CallbackLanes = {
  /** How many more requests this target may have now. */
  freeFor(target: string): number
  /** How many more requests all targets together may have. */
  freeInAll(): number
  /** Whether the target has a reduced limit, since it was overwhelmed or silent. */
  isSuspect(target: string): boolean
  /** How many more requests all targets with a reduced limit may have together. */
  freeForSuspects(): number
  /** Rises with every request: which of two targets had its last one earlier. */
  lastTurn(target: string): number
  enter(target: string): void
  /** `isHealthy` unless the receiver was overwhelmed or silent. */
  leave(target: string, isHealthy: boolean): void
}

export type LaneLimits = { total: number; perTarget: number }

/** `limit` is what the target has proved to handle; `perTarget` until it fails. */
type Lane = { busy: number; limit: number; lastTurn: number }

/**
 * A target begins with its full limit. Each overloaded or missing response halves
 * it, down to one; each good one doubles it again. Targets with a reduced limit
 * may together have half of all requests, so that any number of dead receivers,
 * each silent until the time-out, leaves the other half to the rest.
 */
export function createCallbackLanes({ total, perTarget }: LaneLimits): CallbackLanes {
  const lanes = new Map<string, Lane>()
  const suspectLimit = total >> 1
  let busy = 0
  let busySuspects = 0
  let turns = 0

  const isSuspect = (lane: Lane) => lane.limit < perTarget
  const laneOf = (target: string): Lane => lanes.get(target) ?? { busy: 0, limit: perTarget, lastTurn: 0 }
  const freeForSuspects = () => Math.max(0, Math.min(total - busy, suspectLimit - busySuspects))

  /** A target with its full limit and no requests need not be remembered. */
  function forgetIdle(target: string, lane: Lane): void {
    if (lane.busy === 0 && !isSuspect(lane)) lanes.delete(target)
    else if (lanes.size > MAX_REMEMBERED) forgetOldestIdle()
  }

  /** The least recently used come first. */
  function forgetOldestIdle(): void {
    for (const [target, lane] of lanes) {
      if (lane.busy > 0) continue
      lanes.delete(target)
      return
    }
  }

  return {
    freeFor(target) {
      const lane = laneOf(target)
      return Math.max(0, Math.min(lane.limit - lane.busy, isSuspect(lane) ? freeForSuspects() : total - busy))
    },
    freeInAll: () => total - busy,
    isSuspect: target => isSuspect(laneOf(target)),
    freeForSuspects,
    lastTurn: target => laneOf(target).lastTurn,
    enter(target) {
      const lane = laneOf(target)
      lanes.delete(target)
      lanes.set(target, lane)
      lane.lastTurn = ++turns
      lane.busy++
      busy++
      if (isSuspect(lane)) busySuspects++
    },
    leave(target, isHealthy) {
      const lane = lanes.get(target)!
      const before = isSuspect(lane) ? lane.busy : 0
      lane.busy--
      busy--
      lane.limit = isHealthy ? Math.min(perTarget, lane.limit * 2) : Math.max(1, lane.limit >> 1)
      busySuspects += (isSuspect(lane) ? lane.busy : 0) - before
      forgetIdle(target, lane)
    },
  }
}

const MAX_REMEMBERED = 10_000

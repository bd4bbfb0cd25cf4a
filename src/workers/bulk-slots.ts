import type { ConnectionId } from '../lib/ids.ts'

/**
 * Free slots of the connections. A message that finds no slot goes through the outbox, which doubles its cost
 * to the database: so a row waits for the slot instead.
 */
export type BulkSlots = {
  /** Whether a row could begin at once over this connection, that of its job's last row; null if not known yet. */
  hasFreeSlot(connectionId: ConnectionId | null): boolean
  /** Counts a row towards the connection; the returned function ends that, once the row has its slot or needs none. It may be called repeatedly. */
  reserve(connectionId: ConnectionId | null): () => void
  /** Calls `run` once when there is room again; first come, first served. */
  wait(connectionId: ConnectionId, run: () => void): void
  /** There may be room again. */
  slotFreed(connectionId: ConnectionId): void
}

/** `freeSlotsAt`: messages that may begin now, see Dispatcher.freeSlotsAt. */
export function createBulkSlots(freeSlotsAt: (connectionId: ConnectionId) => number): BulkSlots {
  /** Rows that were counted and have no slot yet. */
  const reserved = new Map<ConnectionId, number>()
  const waiting = new Map<ConnectionId, Set<() => void>>()
  const scheduled = new Set<ConnectionId>()
  let reservations = 0

  function hasFreeSlot(connectionId: ConnectionId | null): boolean {
    return connectionId === null || freeSlotsAt(connectionId) > (reserved.get(connectionId) ?? 0)
  }

  function count(connectionId: ConnectionId, change: number): void {
    const rows = (reserved.get(connectionId) ?? 0) + change
    if (rows === 0) reserved.delete(connectionId)
    else reserved.set(connectionId, rows)
  }

  function slotFreed(connectionId: ConnectionId): void {
    // Once for all slots freed in the same turn of the event loop.
    if (waiting.has(connectionId)) scheduleServing(connectionId)
  }

  function scheduleServing(connectionId: ConnectionId): void {
    if (scheduled.has(connectionId)) return
    scheduled.add(connectionId)
    setImmediate(() => {
      scheduled.delete(connectionId)
      serveWaiting(connectionId)
    })
  }

  function serveWaiting(connectionId: ConnectionId): void {
    const runs = waiting.get(connectionId)
    if (!runs) return
    // A lane that finds it full again waits behind the others.
    for (const run of [...runs]) {
      if (!hasFreeSlot(connectionId)) return
      runs.delete(run)
      if (runs.size === 0) waiting.delete(connectionId)
      const before = reservations
      run()
      // It waits for something else now (the gate), as most of the others would. They continue in the next turn of the
      // event loop; otherwise all of them would alternate between the two queues.
      if (reservations === before) {
        if (runs.size > 0) scheduleServing(connectionId)
        return
      }
    }
  }

  return {
    hasFreeSlot,
    reserve(connectionId) {
      reservations++
      if (connectionId === null) return () => {}
      count(connectionId, 1)
      let arrived = false
      return () => {
        if (arrived) return
        arrived = true
        count(connectionId, -1)
        slotFreed(connectionId)
      }
    },
    wait(connectionId, run) {
      const runs = waiting.get(connectionId) ?? new Set()
      waiting.set(connectionId, runs.add(run))
    },
    slotFreed,
  }
}

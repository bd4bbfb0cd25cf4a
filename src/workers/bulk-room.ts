import type { ConnectionId } from '../lib/ids.ts'

/**
 * Free slots of the connections. A message that finds no slot goes through the outbox, which doubles its cost
 * to the database: so a row waits for the slot instead.
 */
export type BulkRoom = {
  /** Whether a row could begin at once over this connection, that of its job's last row; null if not known yet. */
  isAt(connectionId: ConnectionId | null): boolean
  /** Counts a row towards the connection; the returned function ends that, once the row has its slot or needs none. It may be called repeatedly. */
  setOut(connectionId: ConnectionId | null): () => void
  /** Calls `run` once when there is room again; first come, first served. */
  wait(connectionId: ConnectionId, run: () => void): void
  /** There may be room again. */
  freed(connectionId: ConnectionId): void
}

/** `placesAt`: messages that may begin now, see Dispatcher.placesAt. */
export function createBulkRoom(placesAt: (connectionId: ConnectionId) => number): BulkRoom {
  /** Rows that were counted and have no slot yet. */
  const underWay = new Map<ConnectionId, number>()
  const waiting = new Map<ConnectionId, Set<() => void>>()
  const planned = new Set<ConnectionId>()
  let setOuts = 0

  function isAt(connectionId: ConnectionId | null): boolean {
    return connectionId === null || placesAt(connectionId) > (underWay.get(connectionId) ?? 0)
  }

  function count(connectionId: ConnectionId, change: number): void {
    const rows = (underWay.get(connectionId) ?? 0) + change
    if (rows === 0) underWay.delete(connectionId)
    else underWay.set(connectionId, rows)
  }

  function freed(connectionId: ConnectionId): void {
    // Once for all slots freed in the same turn of the event loop.
    if (waiting.has(connectionId)) plan(connectionId)
  }

  function plan(connectionId: ConnectionId): void {
    if (planned.has(connectionId)) return
    planned.add(connectionId)
    setImmediate(() => {
      planned.delete(connectionId)
      letIn(connectionId)
    })
  }

  function letIn(connectionId: ConnectionId): void {
    const runs = waiting.get(connectionId)
    if (!runs) return
    // A lane that finds it full again waits behind the others.
    for (const run of [...runs]) {
      if (!isAt(connectionId)) return
      runs.delete(run)
      if (runs.size === 0) waiting.delete(connectionId)
      const before = setOuts
      run()
      // It waits for something else now (the gate), as most of the others would. They continue in the next turn of the
      // event loop; otherwise all of them would alternate between the two queues.
      if (setOuts === before) {
        if (runs.size > 0) plan(connectionId)
        return
      }
    }
  }

  return {
    isAt,
    setOut(connectionId) {
      setOuts++
      if (connectionId === null) return () => {}
      count(connectionId, 1)
      let arrived = false
      return () => {
        if (arrived) return
        arrived = true
        count(connectionId, -1)
        freed(connectionId)
      }
    },
    wait(connectionId, run) {
      const runs = waiting.get(connectionId) ?? new Set()
      waiting.set(connectionId, runs.add(run))
    },
    freed,
  }
}

import type { ConnectionId } from '../lib/ids.ts'

/**
 * Room at the connections. A message that finds no place at its connection goes by way of
 * the outbox, which costs the store as much again: a row may as well wait for the place.
 */
export type BulkRoom = {
  /** Whether a row that goes where its job's rows went before could begin at once; null is not known yet. */
  isAt(connectionId: ConnectionId | null): boolean
  /** A row sets out for it; what is returned says, however often, that it has its place or needs none. */
  setOut(connectionId: ConnectionId | null): () => void
  /** Calls `run` when there is room again, once; in the order of asking. */
  wait(connectionId: ConnectionId, run: () => void): void
  /** There may be room again. */
  freed(connectionId: ConnectionId): void
}

/** `placesAt`: messages that may begin now, see Dispatcher.placesAt. */
export function createBulkRoom(placesAt: (connectionId: ConnectionId) => number): BulkRoom {
  /** Rows that have set out and hold no place yet. */
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
    // Once for all that end in the same turn.
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
    // Whoever finds it full once more waits behind the others.
    for (const run of [...runs]) {
      if (!isAt(connectionId)) return
      runs.delete(run)
      if (runs.size === 0) waiting.delete(connectionId)
      const before = setOuts
      run()
      // It waits for something else now (the gate), and so will most of the others: they go on in the next turn
      // of the event loop, or all of them would go to and fro between the two.
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

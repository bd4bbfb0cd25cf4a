import type { ConnectionId } from '../lib/ids.ts'

/** The connections that may have more due messages than they had room for at the last poll of the outbox. */
export type Backlog = {
  /** After a poll: `polled` are the connections with the most that they could get, `rows` what was claimed. */
  update(
    polled: readonly { connectionId: ConnectionId; limit: number }[],
    rows: readonly { connectionId: ConnectionId }[],
  ): void
  has(id: ConnectionId): boolean
  /** It is polled at once, so that it need not ask again before the next update. */
  delete(id: ConnectionId): void
}

export function createBacklog(): Backlog {
  const backlogged = new Set<ConnectionId>()
  return {
    update(polled, rows) {
      const got = new Map<ConnectionId, number>()
      for (const { connectionId } of rows) got.set(connectionId, (got.get(connectionId) ?? 0) + 1)
      for (const { connectionId, limit } of polled) {
        // One that got fewer messages than its limit has no further due ones.
        if ((got.get(connectionId) ?? 0) < limit) backlogged.delete(connectionId)
        else backlogged.add(connectionId)
      }
    },
    has: id => backlogged.has(id),
    delete: id => void backlogged.delete(id),
  }
}

import type { PartIds } from '../../channels/provider.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { joinParts, type PartRef, type SplitMessage, storeParts } from '../outbox/parts-store.ts'

/**
 * Messages that the provider splits into parts: receipts come for each part, on any node and in any order, and are
 * combined to the status of the message.
 */
export type MessageParts = {
  /** Stores the ids of the parts; from then on the receipts of all parts together decide the status. */
  store(connectionId: ConnectionId, pieces: PartIds): Promise<void>
  /** For parked receipts: combines those of parts into their messages; returns which of the ids are of parts. */
  joinReceipts(connectionId: ConnectionId, providerIds: readonly string[]): Promise<boolean[]>
}

export type MessagePartsDeps = {
  db: Db
  clock: Clock
  /** True while stopping: then a write is not retried while the database is unavailable. */
  stopping(): boolean
}

export function createMessageParts({ db, clock, stopping }: MessagePartsDeps): MessageParts {
  const notes = createBatcher<SplitMessage, undefined>({
    async flush(wholes) {
      await retryWhileRunning(() => storeParts(db, clock.now(), wholes))
      // Receipts that came before are parked.
      const refs = wholes.flatMap(({ connectionId, partIds }) =>
        partIds.map(partId => ({ connectionId, partId })),
      )
      await retryWhileRunning(() => joinParts(db, clock.now(), refs))
      return new Array(wholes.length)
    },
  })
  const joins = createBatcher<PartRef, boolean>({
    async flush(refs) {
      const parts = await retryWhileRunning(() => joinParts(db, clock.now(), refs))
      return refs.map((_, at) => parts.has(at))
    },
  })

  function retryWhileRunning<T>(work: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(clock, () => !stopping(), work)
  }

  return {
    store: (connectionId, { whole, ids, total }) =>
      notes.add({ connectionId, wholeId: whole, partIds: ids, total }),
    joinReceipts: (connectionId, providerIds) =>
      Promise.all(providerIds.map(partId => joins.add({ connectionId, partId }))),
  }
}

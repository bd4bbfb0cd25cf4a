import type { PartIds } from '../../channels/provider.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { patiently } from '../../infra/patiently.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { joinParts, noteParts, type PartRef, type Whole } from '../outbox/parts-store.ts'

/**
 * Messages that the provider splits into parts: receipts come for each part, on any node and in any order, and are
 * combined to the status of the message.
 */
export type MessageParts = {
  /** Stores the ids of the parts; from then on the receipts of all parts together decide the status. */
  note(connectionId: ConnectionId, pieces: PartIds): Promise<void>
  /** For parked receipts: combines those of parts into their messages; returns which of the ids are of parts. */
  heard(connectionId: ConnectionId, providerIds: readonly string[]): Promise<boolean[]>
}

export type MessagePartsDeps = {
  db: Db
  clock: Clock
  /** True while stopping: then a write is not retried while the database is unavailable. */
  stopping(): boolean
}

export function createMessageParts({ db, clock, stopping }: MessagePartsDeps): MessageParts {
  const notes = createBatcher<Whole, undefined>({
    async flush(wholes) {
      await whenThere(() => noteParts(db, clock.now(), wholes))
      // Receipts that came before are parked.
      const refs = wholes.flatMap(({ connectionId, partIds }) =>
        partIds.map(partId => ({ connectionId, partId })),
      )
      await whenThere(() => joinParts(db, clock.now(), refs))
      return new Array(wholes.length)
    },
  })
  const joins = createBatcher<PartRef, boolean>({
    async flush(refs) {
      const parts = await whenThere(() => joinParts(db, clock.now(), refs))
      return refs.map((_, at) => parts.has(at))
    },
  })

  function whenThere<T>(work: () => Promise<T>): Promise<T> {
    return patiently(clock, () => !stopping(), work)
  }

  return {
    note: (connectionId, { whole, ids, total }) =>
      notes.add({ connectionId, wholeId: whole, partIds: ids, total }),
    heard: (connectionId, providerIds) =>
      Promise.all(providerIds.map(partId => joins.add({ connectionId, partId }))),
  }
}

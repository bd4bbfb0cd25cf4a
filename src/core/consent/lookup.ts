import type { Channel } from '../../contract/enums.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { findSuppressed, type SuppressionLookup } from './store.ts'

/**
 * The channels on which a recipient must get no marketing; null among them means
 * every channel. Always read from the store: a list may have millions of rows, and a
 * change must hold at once on every node. Concurrent look-ups share a query.
 */
export type FindSuppressedChannels = (asked: SuppressionLookup) => Promise<readonly (Channel | null)[]>

/** Concurrent queries, so that the next one does not wait for a slow one. */
const MAX_FLIGHTS = 2

export function createFindSuppressedChannels({ db }: { db: Db }): FindSuppressedChannels {
  const batcher = createBatcher<SuppressionLookup, readonly (Channel | null)[]>({
    flush: asked => findSuppressed(db, asked),
    maxConcurrentFlushes: MAX_FLIGHTS,
  })
  return asked => batcher.add(asked)
}

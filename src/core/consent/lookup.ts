import type { Channel } from '../../contract/enums.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { type Asked, findSuppressed } from './store.ts'

/**
 * The channels on which somebody is to be sent no marketing; null among them is
 * every channel. Asked of the store each time, since a list may have millions of
 * rows and must hold at once on every node; those who ask at once share a query.
 */
export type SuppressedOn = (asked: Asked) => Promise<readonly (Channel | null)[]>

/** Queries under way at once: the next one need not wait for a slow one. */
const MOST_FLIGHTS = 2

export function createSuppressedOn({ db }: { db: Db }): SuppressedOn {
  const batcher = createBatcher<Asked, readonly (Channel | null)[]>({
    flush: asked => findSuppressed(db, asked),
    maxFlights: MOST_FLIGHTS,
  })
  return asked => batcher.add(asked)
}

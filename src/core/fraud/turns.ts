import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { personOf } from './scopes.ts'
import { giveTurnBack, type Turn, takeTurns } from './turn-store.ts'

export type TurnLimit = {
  sends: number
  windowMinutes: number
  /** Whether the limit refuses; else it is only counted. */
  strict: boolean
}

type Asker = { accountId: AccountId; recipient: string; nowMs: number }

/**
 * How often a recipient is written to, exactly, whatever node sends: the store
 * counts, and those who ask at once share a statement.
 */
export type Turns = {
  take(asker: Asker, limit: TurnLimit): Promise<Turn>
  /** Of a send that came to nothing: the turn that was taken at that time. Never throws. */
  giveBack(asker: Asker, atMs: number): void
}

/** Where nothing is refused there is an end to what is remembered. */
const MOST_COUNTED = 100

export function createTurns({ db }: { db: Db }): Turns {
  const batcher = createBatcher({
    flush: (items: readonly (Asker & { most: number; windowMinutes: number })[]) => takeTurns(db, items),
    conflict: ({ accountId, recipient }) => `${accountId} ${recipient}`,
  })
  return {
    take: (asker, { sends, windowMinutes, strict }) =>
      batcher.add({ ...whole(asker), windowMinutes, most: strict ? sends : MOST_COUNTED }),
    giveBack: (asker, atMs) => void giveTurnBack(db, whole(asker), atMs).catch(() => {}),
  }
}

/** Counted by person, not by spelling. */
function whole({ accountId, recipient, nowMs }: Asker): Asker {
  return { accountId, recipient: personOf(recipient), nowMs }
}

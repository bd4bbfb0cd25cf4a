import type { Clock } from '../lib/clock.ts'
import { Refusal } from '../lib/refusal.ts'
import { type Loop, startLoop } from './loop.ts'

export type StoreWatchDeps = {
  clock: Clock
  /** The name of what a newer program put into the store, or null. */
  findNewer(): Promise<string | null>
  /** Called once. */
  onOutgrown(reason: Refusal): void
}

/** So long an older node goes on with a store that is not its own any more, at most. */
const LOOK_EVERY_MS = 1_000

/**
 * Finds out that a newer program has migrated the store under this one. What this one asks for may be
 * gone from then on, or mean something else: it cannot go on, as it could not start.
 */
export function startStoreWatch({ clock, findNewer, onOutgrown }: StoreWatchDeps): Loop {
  let told = false
  return startLoop({
    clock,
    everyMs: LOOK_EVERY_MS,
    async round() {
      const name = told ? null : await findNewer()
      if (name === null) return undefined
      told = true
      onOutgrown(
        new Refusal(
          `The database was migrated by another Posthorn while this one ran (it has ${name}): start that version.`,
        ),
      )
      return undefined
    },
    // A database that is away is looked at again.
    onError: () => {},
  })
}

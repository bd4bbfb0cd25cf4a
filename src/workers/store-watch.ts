import type { Clock } from '../lib/clock.ts'
import { Refusal } from '../lib/refusal.ts'
import { type Loop, startLoop } from './loop.ts'

export type StoreWatchDeps = {
  clock: Clock
  /** The name of a migration that a newer program applied, or null. */
  findNewer(): Promise<string | null>
  /** Called once. */
  onOutgrown(reason: Refusal): void
}

/** How long an older node may go on with a database that was migrated, at most. */
const LOOK_EVERY_MS = 1_000

/**
 * Detects that a newer program has migrated the database while this one runs. Tables and functions that this one
 * uses may be gone, or mean something else, so it must stop, as it would refuse to start.
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
    // If the database is down, the next round checks again.
    onError: () => {},
  })
}

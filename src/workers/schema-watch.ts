import type { Clock } from '../lib/clock.ts'
import { Refusal } from '../lib/refusal.ts'
import { type Loop, startLoop } from './loop.ts'

export type SchemaWatchDeps = {
  clock: Clock
  /** The name of a migration that a newer program applied, or null. */
  findNewer(): Promise<string | null>
  /** Called once. */
  onNewerSchema(reason: Refusal): void
}

/** How long an older node may go on with a database that was migrated, at most. */
const CHECK_EVERY_MS = 1_000

/**
 * Detects that a newer program has migrated the database while this one runs. Tables and functions that this one
 * uses may be gone, or mean something else, so it must stop, as it would refuse to start.
 */
export function startSchemaWatch({ clock, findNewer, onNewerSchema }: SchemaWatchDeps): Loop {
  let isReported = false
  return startLoop({
    clock,
    everyMs: CHECK_EVERY_MS,
    async round() {
      const name = isReported ? null : await findNewer()
      if (name === null) return undefined
      isReported = true
      onNewerSchema(
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

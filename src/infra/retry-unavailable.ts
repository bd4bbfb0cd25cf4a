import { type Clock, pause } from '../lib/clock.ts'
import { DatabaseUnavailable } from './db.ts'

/** Work that may be repeated. */
export type Repeatable<T> = (
  /** An earlier try may have been executed although its answer was lost. */
  repeated: boolean,
) => Promise<T>

const REPEAT_EVERY_MS = 200

/**
 * Repeats work while the database is unavailable, for data that its source will not send again. Rejects with
 * DatabaseUnavailable when `mayRetry` returns false, and at once with any other error.
 */
export async function retryWhileUnavailable<T>(
  clock: Clock,
  mayRetry: () => boolean,
  work: Repeatable<T>,
): Promise<T> {
  for (let repeated = false; ; repeated = true) {
    try {
      return await work(repeated)
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || !mayRetry()) throw error
      await pause(clock, REPEAT_EVERY_MS)
    }
  }
}

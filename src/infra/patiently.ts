import { type Clock, pause } from '../lib/clock.ts'
import { DatabaseUnavailable } from './db.ts'

/** Work that may be done again. */
export type Repeatable<T> = (
  /** An earlier try may have been carried out, although its answer was lost. */
  repeated: boolean,
) => Promise<T>

const REPEAT_EVERY_MS = 200

/**
 * Does work for which a database that is away is waited for, since what it writes
 * down was said by somebody who will not say it again. Rejects with
 * DatabaseUnavailable when a try fails for that and there is no more `patience`;
 * with any other error at once.
 */
export async function patiently<T>(clock: Clock, patience: () => boolean, work: Repeatable<T>): Promise<T> {
  for (let repeated = false; ; repeated = true) {
    try {
      return await work(repeated)
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || !patience()) throw error
      await pause(clock, REPEAT_EVERY_MS)
    }
  }
}

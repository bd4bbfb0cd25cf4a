import type { UserFacingSocketConfig } from 'baileys'
import type { Log } from '../../lib/log.ts'

type LibraryLog = NonNullable<UserFacingSocketConfig['logger']>

/**
 * The library tells its log whole nodes, keys and words included: of what it says
 * we keep the sentence alone, and only where something went wrong.
 */
export function createQuietLog(log: Log): LibraryLog {
  const say = (fields: unknown, text?: string) => {
    const sentence = typeof fields === 'string' ? fields : text
    if (sentence) log.debug({ from: 'baileys' }, sentence)
  }
  const quiet: LibraryLog = {
    level: 'warn',
    child: () => quiet,
    trace() {},
    debug() {},
    info() {},
    warn: say,
    error: say,
  }
  return quiet
}

import type { UserFacingSocketConfig } from 'baileys'
import type { Log } from '../../lib/log.ts'

type LibraryLog = NonNullable<UserFacingSocketConfig['logger']>

/**
 * The library logs whole nodes, with keys and message texts: we keep only
 * the text of its log lines, and only of warnings and errors.
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

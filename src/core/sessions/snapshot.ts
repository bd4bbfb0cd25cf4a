import type { SessionState } from '../../contract/web-session.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { listSessions } from './store.ts'

/** A live session as sends know it. */
export type SessionSnapshot = {
  id: ConnectionId
  name: string
  state: SessionState
  /** It was linked, and connects by itself when its line drops. */
  paired: boolean
}

export type SessionSnapshots = {
  /** The oldest first. At once when warm. */
  forAccount(accountId: AccountId): readonly SessionSnapshot[] | Promise<readonly SessionSnapshot[]>
}

const MAX_ACCOUNTS = 10_000
/** An account has fewer. */
const MOST_SESSIONS = 500

export function createSessionSnapshots(deps: {
  db: Db
  clock: Clock
  changes: Pick<Changes, 'fresh' | 'subscribe'>
}): SessionSnapshots {
  const cache = createFreshCache<AccountId, readonly SessionSnapshot[]>({
    clock: deps.clock,
    fresh: deps.changes.fresh,
    maxEntries: MAX_ACCOUNTS,
    ownerOf: accountId => accountId,
    async load(accountId) {
      const rows = await listSessions(deps.db, accountId, true, null, MOST_SESSIONS)
      return rows
        .reverse()
        .map(({ id, name, state, pairedAtMs }) => ({ id, name, state, paired: pairedAtMs !== null }))
    },
  })
  deps.changes.subscribe({
    changed(table, accountId) {
      if (table === 'web_sessions' && accountId) cache.forget(accountId)
    },
    reset: cache.clear,
  })
  // Never null: an account without sessions has an empty list.
  return { forAccount: id => cache.get(id) as ReturnType<SessionSnapshots['forAccount']> }
}

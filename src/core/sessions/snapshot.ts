import type { SessionState } from '../../contract/web-session.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
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

/** An account has fewer. */
const MOST_SESSIONS = 500

export function createSessionSnapshots({ db, ...deps }: AccountCacheDeps & { db: Db }): SessionSnapshots {
  return {
    forAccount: createAccountCache(deps, ['web_sessions'], async accountId => {
      const rows = await listSessions(db, accountId, true, null, MOST_SESSIONS)
      return rows
        .reverse()
        .map(({ id, name, state, pairedAtMs }) => ({ id, name, state, paired: pairedAtMs !== null }))
    }),
  }
}

import type { SessionState } from '../../contract/web-session.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
import { listSessions } from './store.ts'

/** A session of live keys, for sends. */
export type SessionSnapshot = {
  id: ConnectionId
  name: string
  state: SessionState
  /** It was made before a connection carried the channel. */
  sandbox: boolean
  /** It is linked, and reconnects by itself. */
  paired: boolean
}

export type SessionSnapshots = {
  /** The oldest first. Synchronous when cached. */
  forAccount(accountId: AccountId): readonly SessionSnapshot[] | Promise<readonly SessionSnapshot[]>
}

/** More than an account may have. */
const MAX_ROWS = 500

export function createSessionSnapshots({ db, ...deps }: AccountCacheDeps & { db: Db }): SessionSnapshots {
  return {
    forAccount: createAccountCache(deps, ['web_sessions'], async accountId => {
      const rows = await listSessions(db, accountId, true, null, MAX_ROWS)
      return rows.reverse().map(({ id, name, state, sandbox, pairedAtMs }) => ({
        id,
        name,
        state,
        sandbox,
        paired: pairedAtMs !== null,
      }))
    }),
  }
}

import type { AccountSnapshot } from '../../contract/caller.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { selectSnapshot } from './store.ts'

export type AccountSnapshots = {
  /** Synchronous when cached. Null if there is no such account. */
  snapshot(id: AccountId): AccountSnapshot | null | Promise<AccountSnapshot | null>
}

export type SnapshotDeps = { db: Db; clock: Clock; changes: Pick<Changes, 'fresh' | 'subscribe'> }

const MAX_ACCOUNTS = 10_000
/** The tables that a snapshot is read from. */
const TABLES = new Set(['accounts', 'pools'])

/** A cache of accounts; an entry is dropped when any node changes the account. */
export function createAccountSnapshots({ db, clock, changes }: SnapshotDeps): AccountSnapshots {
  let revision = 0
  const cache = createFreshCache<AccountId, AccountSnapshot>({
    clock,
    fresh: changes.fresh,
    maxEntries: MAX_ACCOUNTS,
    ownerOf: id => id,
    async load(id) {
      const read = await selectSnapshot(db, id)
      return read && { ...read, revision: ++revision }
    },
  })
  changes.subscribe({
    changed(table, accountId) {
      if (TABLES.has(table) && accountId) cache.forget(accountId)
    },
    reset: cache.clear,
  })
  return { snapshot: cache.get }
}

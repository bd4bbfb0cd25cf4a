import type { Changes } from '../../infra/changes.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { PLATFORM } from './platform.ts'

export type AccountCacheDeps = { clock: Clock; changes: Pick<Changes, 'fresh' | 'subscribe'> }

const MAX_ACCOUNTS = 10_000

/**
 * Caches what `load` returned for each account, until any node changes a row of `tables` that belongs to the
 * account, or to the platform, whose rows all accounts may use. Synchronous when cached.
 */
export function createAccountCache<Value>(
  { clock, changes }: AccountCacheDeps,
  tables: readonly string[],
  load: (accountId: AccountId) => Promise<Value>,
): (accountId: AccountId) => Value | Promise<Value> {
  const cache = createFreshCache<AccountId, Value>({
    clock,
    fresh: changes.fresh,
    maxEntries: MAX_ACCOUNTS,
    ownerOf: accountId => accountId,
    load,
  })
  changes.subscribe({
    changed(table, accountId) {
      if (!accountId || !tables.includes(table)) return
      if (accountId === PLATFORM) cache.clear()
      else cache.forget(accountId)
    },
    reset: cache.clear,
  })
  // Never null, since `load` here always returns a value.
  return accountId => cache.get(accountId) as Value | Promise<Value>
}

import type { Caller } from '../../contract/caller.ts'
import type { Permission } from '../../contract/enums.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import { createLru } from '../../lib/lru.ts'
import { hashApiKey, isApiKey } from './api-key.ts'
import { type KeyId, type KeyRow, type KeyUse, selectKeyByHash, updateLastUsed } from './key-store.ts'
import type { AccountSnapshots, SnapshotDeps } from './snapshots.ts'

export type Keys = {
  /**
   * The caller of a key; null if the key is unknown, revoked or expired. Synchronous
   * when cached, else a promise. A key that another node revoked is refused
   * within a second, an expired one at once.
   */
  lookup(rawKey: string): Caller | null | Promise<Caller | null>
  /** Stores when keys were last used, as gathered since the last call. Called by a chore and at shutdown. */
  flushUsed(): Promise<void>
}

export type KeysDeps = SnapshotDeps & { accounts: AccountSnapshots }

/** A key, its last use, and its caller, which is the same object until the account changes. */
type CachedKey = { key: KeyRow; permissions: ReadonlySet<Permission>; use: KeyUse; caller: Caller | null }

const MAX_KEYS = 10_000
const MAX_REFUSED = 1_000
/** An unknown key is refused from memory for this long before the database is asked again. */
const REFUSED_MS = 2_000

export function createKeys({ db, clock, changes, accounts }: KeysDeps): Keys {
  const refusedUntilMs = createLru<string, number>(MAX_REFUSED)
  let used = new Map<KeyId, KeyUse>()

  const cache = createFreshCache<string, CachedKey>({
    clock,
    fresh: changes.fresh,
    maxEntries: MAX_KEYS,
    ownerOf: (_, held) => held.key.accountId,
    async load(hash) {
      const key = await selectKeyByHash(db, hash)
      if (key) return toCachedKey(key)
      refusedUntilMs.set(hash, clock.monotonic() + REFUSED_MS)
      return null
    },
  })
  changes.subscribe({
    changed(table, accountId) {
      if (table !== 'api_keys' || !accountId) return
      refusedUntilMs.clear()
      cache.forget(accountId)
    },
    reset() {
      refusedUntilMs.clear()
      cache.clear()
    },
  })

  function lookup(rawKey: string): Caller | null | Promise<Caller | null> {
    if (!isApiKey(rawKey)) return null
    const hash = hashApiKey(rawKey)
    if (clock.monotonic() < (refusedUntilMs.get(hash) ?? 0)) return null
    const held = cache.get(hash)
    return held instanceof Promise ? held.then(checkKey) : checkKey(held)
  }

  function checkKey(held: CachedKey | null): Caller | null | Promise<Caller | null> {
    if (!held) return null
    const nowMs = clock.now()
    if (held.key.expiresAtMs !== null && held.key.expiresAtMs <= nowMs) return null
    held.use.atMs = nowMs
    used.set(held.key.id, held.use)
    const account = accounts.snapshot(held.key.accountId)
    return account instanceof Promise ? account.then(found => callerOf(held, found)) : callerOf(held, account)
  }

  async function flushUsed(): Promise<void> {
    if (used.size === 0) return
    const batch = used
    used = new Map()
    try {
      await updateLastUsed(db, [...batch.values()])
    } catch (error) {
      // Uses that came in meanwhile are later, and win.
      used = new Map([...batch, ...used])
      throw error
    }
  }

  return { lookup, flushUsed }
}

function toCachedKey(key: KeyRow): CachedKey {
  const use = { accountId: key.accountId, id: key.id, atMs: 0 }
  return { key, permissions: new Set(key.permissions), use, caller: null }
}

function callerOf(held: CachedKey, account: Caller['account'] | null): Caller | null {
  if (!account) return null
  if (held.caller?.account !== account) {
    const { key, permissions } = held
    held.caller = {
      keyId: key.id,
      keyName: key.name,
      keyPrefix: key.prefix,
      keyExpiresAtMs: key.expiresAtMs,
      mode: key.mode,
      role: key.role,
      permissions,
      account,
    }
  }
  return held.caller
}

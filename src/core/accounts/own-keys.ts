import { actorOfCaller } from '../../contract/actor.ts'
import type { ApiKey, ApiKeyCreate, ApiKeyRotate } from '../../contract/api-key.ts'
import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/ids.ts'
import { pageKeys, revokeKey, selectKey } from './key-store.ts'
import { type NewKeys, OVERLAP_SECONDS, readExpiry, unknownKey } from './new-key.ts'
import { requireExpiryWithin, requireKeyRights } from './rights.ts'
import { viewKey } from './views.ts'

/**
 * An account's own keys. FORBIDDEN to make, rotate or revoke a key with more rights than the
 * caller's, or to make or rotate one that outlives the caller's key.
 */
export type OwnKeys = {
  /** The newest first. */
  list(caller: Caller, query: PageQuery & { active?: boolean }): Promise<Page<ApiKey>>
  create(caller: Caller, input: ApiKeyCreate): Promise<{ key: ApiKey; apiKey: string }>
  /** Changes nothing if the key is revoked already. */
  revoke(caller: Caller, id: string): Promise<ApiKey>
  rotate(
    caller: Caller,
    id: string,
    input: ApiKeyRotate,
  ): Promise<{ key: ApiKey; apiKey: string; previous: ApiKey }>
}

export type OwnKeysDeps = {
  db: Database
  clock: Clock
  newKeys: NewKeys
  changes: Pick<Changes, 'publish'>
}

export function createOwnKeys({ db, clock, newKeys, changes }: OwnKeysDeps): OwnKeys {
  return {
    async list({ account }, { limit = DEFAULT_LIMIT, cursor, active }) {
      const before = readIdCursor('key', cursor)
      const activeAtMs = active ? clock.now() : null
      const rows = await pageKeys(db, account.id, { activeAtMs, before }, limit + 1)
      return pageById(rows, limit, viewKey)
    },

    async create(caller, input) {
      const wanted = { ...input, role: input.role ?? 'member' }
      requireKeyRights(caller, wanted)
      const expiresAtMs = readExpiry(input.expiresAt, clock.now())
      requireExpiryWithin(caller, { expiresAtMs })
      const by = actorOfCaller(caller)
      const { key, apiKey } = await newKeys.add(db, caller.account.id, wanted, expiresAtMs, by)
      return { key: viewKey(key), apiKey }
    },

    async revoke(caller, id) {
      const accountId = caller.account.id
      const key = isId('key', id) ? await selectKey(db, accountId, id) : null
      if (!key) throw unknownKey()
      requireKeyRights(caller, key)
      const revoked = await db.transaction(tx => revokeKey(tx, accountId, key.id, clock.now()))
      // Takes effect on this node at once; the database notifies the other nodes.
      changes.publish('api_keys', accountId)
      return viewKey(revoked ?? key)
    },

    async rotate(caller, id, { overlapSeconds = OVERLAP_SECONDS }) {
      const made =
        isId('key', id) &&
        (await newKeys.rotate(caller.account.id, id, overlapSeconds, actorOfCaller(caller), old => {
          requireKeyRights(caller, old)
          requireExpiryWithin(caller, old)
        }))
      if (!made) throw unknownKey()
      return { key: viewKey(made.key), apiKey: made.apiKey, previous: viewKey(made.previous) }
    },
  }
}

import type { Actor } from '../../contract/actor.ts'
import type { KeyCreate } from '../../contract/admin.ts'
import { Problem } from '../../contract/errors.ts'
import { createFaults } from '../../contract/faults.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids } from '../../lib/ids.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import type { Random } from '../../lib/random.ts'
import { hashApiKey, makeApiKey, prefixOf } from './api-key.ts'
import {
  countKeys,
  insertKey,
  type KeyId,
  type KeyRow,
  replaceKey,
  revokeKey,
  selectKeyForUpdate,
} from './key-store.ts'

/** A new key; only here is it in the clear. */
export type NewKey = { key: KeyRow; apiKey: string }

export type NewKeys = {
  /** CONFLICT if the account has `MAX_KEYS` valid keys. */
  add(
    db: Db,
    accountId: AccountId,
    input: Omit<KeyCreate, 'expiresAt'>,
    expiresAtMs: number | null,
    madeBy: Actor | null,
  ): Promise<NewKey>
  /**
   * Replaces a valid key by one with the same rights and expiry. The old key stays valid for
   * `overlapSeconds`, unless it expires before; 0 revokes it at once. Null if there is no such key; CONFLICT if
   * it is revoked or expired, or was replaced before. `checkMayReplace` throws if the caller may not replace it.
   */
  rotate(
    accountId: AccountId,
    id: KeyId,
    overlapSeconds: number,
    madeBy: Actor,
    checkMayReplace?: (old: KeyRow) => void,
  ): Promise<(NewKey & { previous: KeyRow }) | null>
}

/** Valid keys per account. */
const MAX_KEYS = 500

/** A day: time to change the clients that use the old key. */
export const OVERLAP_SECONDS = 86_400

export type NewKeysDeps = {
  db: Database
  clock: Clock
  ids: Ids
  random: Random
  changes: Pick<Changes, 'publish'>
}

export function createNewKeys({ db, clock, ids, random, changes }: NewKeysDeps): NewKeys {
  async function add(
    tx: Db,
    accountId: AccountId,
    input: Omit<KeyCreate, 'expiresAt'>,
    expiresAtMs: number | null,
    madeBy: Actor | null,
  ): Promise<NewKey> {
    if ((await countKeys(tx, accountId, clock.now())) >= MAX_KEYS) {
      throw new Problem('CONFLICT', `An account can have at most ${MAX_KEYS} valid keys: revoke one first.`)
    }
    const apiKey = makeApiKey(input.mode, random)
    const key: KeyRow = {
      id: ids.next('key'),
      accountId,
      name: input.name,
      prefix: prefixOf(apiKey),
      mode: input.mode,
      role: input.role,
      permissions: [...new Set(input.permissions)],
      expiresAtMs,
      revokedAtMs: null,
      replacedAtMs: null,
      lastUsedAtMs: null,
      madeBy,
    }
    await insertKey(tx, key, hashApiKey(apiKey))
    return { key, apiKey }
  }

  async function endOldKey(tx: Db, old: KeyRow, overlapSeconds: number): Promise<KeyRow> {
    const nowMs = clock.now()
    if (overlapSeconds === 0) return (await revokeKey(tx, old.accountId, old.id, nowMs))!
    const expiresAtMs = Math.min(old.expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + overlapSeconds * 1000)
    await replaceKey(tx, old.accountId, old.id, { replacedAtMs: nowMs, expiresAtMs })
    return { ...old, expiresAtMs }
  }

  return {
    add,
    async rotate(accountId, id, overlapSeconds, madeBy, checkMayReplace = () => {}) {
      const rotated = await db.transaction(async tx => {
        const old = await selectKeyForUpdate(tx, accountId, id)
        if (!old) return null
        checkMayReplace(old)
        const ended = old.revokedAtMs !== null || (old.expiresAtMs !== null && old.expiresAtMs <= clock.now())
        if (ended) throw new Problem('CONFLICT', 'The key is revoked or has expired: create a new one.')
        // Its expiry is the end of its overlap: the new key would end with it.
        if (old.replacedAtMs !== null)
          throw new Problem('CONFLICT', 'The key was rotated before: rotate the key that replaced it.')
        const previous = await endOldKey(tx, old, overlapSeconds)
        return { ...(await add(tx, accountId, old, old.expiresAtMs, madeBy)), previous }
      })
      changes.publish('api_keys', accountId)
      return rotated
    },
  }
}

/** The requested expiry in ms since the epoch; null for none. VALIDATION_ERROR unless it is a time in the future. */
export function readExpiry(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null
  const faults = createFaults()
  const atMs = parseIsoTime(text)
  if (atMs === null)
    faults.add('expiresAt', 'must be an ISO 8601 time with a zone, as in 2030-01-31T09:00:00Z')
  else if (atMs <= nowMs) faults.add('expiresAt', 'must be in the future')
  faults.check()
  return atMs
}

export function unknownKey(): Problem {
  return new Problem('NOT_FOUND', 'API key not found')
}

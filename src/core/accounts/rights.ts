import type { Caller } from '../../contract/caller.ts'
import { PERMISSIONS, type Permission } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import { toIso } from '../../lib/clock.ts'
import type { KeyRow } from './key-store.ts'

type RoleRights = Pick<KeyRow, 'role' | 'permissions'>

/**
 * A caller cannot grant rights that it lacks: throws FORBIDDEN if the key could do more than the
 * caller. A person acts in live and test mode, a test key in test mode only.
 */
export function requireKeyRights(caller: Caller, key: Pick<KeyRow, 'mode' | 'role' | 'permissions'>): void {
  const lacks = key.permissions.find(permission => !caller.permissions.has(permission))
  if (lacks !== undefined) throw missingRight(`the permission ${lacks}`)
  if (key.role === 'owner' && caller.role !== 'owner') throw missingRight('the role owner')
  if (key.mode === 'live' && isTestKey(caller)) throw missingRight('the mode live')
}

/** `requireKeyRights` for a person with a role. */
export function requireRoleRights(caller: Caller, { role, permissions }: RoleRights): void {
  requireKeyRights(caller, { mode: 'live', role, permissions: permissionsOfRole({ role, permissions }) })
}

/** A key cannot make one that outlives it: throws FORBIDDEN if the new key would expire later, or never. */
export function requireExpiryWithin(
  { keyExpiresAtMs }: Pick<Caller, 'keyExpiresAtMs'>,
  { expiresAtMs }: Pick<KeyRow, 'expiresAtMs'>,
): void {
  if (keyExpiresAtMs === null || (expiresAtMs !== null && expiresAtMs <= keyExpiresAtMs)) return
  const text = `Your key expires at ${toIso(keyExpiresAtMs)}: a key that it creates must not expire later.`
  throw new Problem('FORBIDDEN', text, { details: [{ path: 'expiresAt', message: text }] })
}

/** People keep their access when the key that gave it has expired: throws FORBIDDEN for a key that expires. */
export function requireLastingKey({ keyExpiresAtMs }: Pick<Caller, 'keyExpiresAtMs'>): void {
  if (keyExpiresAtMs === null) return
  const text = `Your key expires at ${toIso(keyExpiresAtMs)}: it cannot give people access, which they would keep.`
  throw new Problem('FORBIDDEN', text)
}

/** Whether a change of a person's rights adds any. */
export function addsRights(before: RoleRights, after: RoleRights): boolean {
  if (after.role === 'owner') return before.role !== 'owner'
  const had = permissionsOfRole(before)
  return after.permissions.some(permission => !had.includes(permission))
}

/** The permissions of a person: the listed ones for a member, all for an owner, who has no list. */
export function permissionsOfRole({ role, permissions }: RoleRights): Permission[] {
  return role === 'owner' ? [...PERMISSIONS] : permissions
}

/** Throws FORBIDDEN where a test key would act on something live. */
export function requireLiveAccess(
  caller: Pick<Caller, 'mode' | 'keyPrefix'>,
  { live }: { live: boolean },
): void {
  if (live && isTestKey(caller)) throw new Problem('FORBIDDEN', 'A test key cannot act on live data.')
}

function isTestKey({ mode, keyPrefix }: Pick<Caller, 'mode' | 'keyPrefix'>): boolean {
  return mode === 'test' && keyPrefix !== ''
}

function missingRight(what: string): Problem {
  return new Problem('FORBIDDEN', `This needs ${what}, which you do not have.`)
}

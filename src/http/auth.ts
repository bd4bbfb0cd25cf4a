import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../contract/caller.ts'
import type { Permission } from '../contract/enums.ts'
import { Problem } from '../contract/errors.ts'

/** Who holds a key. Answers at once where it knows; null for keys that are not, or no longer, valid. */
export type Keys = {
  lookup(rawKey: string): Caller | null | Promise<Caller | null>
}

/** No key of ours is longer; more is not worth hashing. */
const MAX_KEY_LENGTH = 200

/** The caller behind the request's key; throws UNAUTHORIZED, or FORBIDDEN for a suspended account. */
export function authenticate(request: FastifyRequest, keys: Keys): Caller | Promise<Caller> {
  const rawKey = request.headers['x-api-key']
  if (typeof rawKey !== 'string' || rawKey === '' || rawKey.length > MAX_KEY_LENGTH) throw unauthorized()
  const found = keys.lookup(rawKey)
  return found instanceof Promise ? found.then(requireActive) : requireActive(found)
}

function requireActive(caller: Caller | null): Caller {
  if (caller === null) throw unauthorized()
  if (caller.account.status === 'suspended') throw new Problem('FORBIDDEN', 'This account is suspended.')
  return caller
}

function unauthorized(): Problem {
  return new Problem('UNAUTHORIZED')
}

/** A key with this permission, of an account with a verified phone; throws FORBIDDEN. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.permissions.has(permission)) {
    throw new Problem('FORBIDDEN', `This key lacks the permission ${permission}.`)
  }
  if (!caller.account.phone.verified) {
    throw new Problem('FORBIDDEN', 'The phone number of this account is not verified.')
  }
}

/** An owner's key; throws FORBIDDEN. */
export function requireOwner(caller: Caller): void {
  if (caller.role !== 'owner') throw new Problem('FORBIDDEN', 'Only the owner of the account may do that.')
}

/** `Authorization: Bearer <operator token>`, compared by hash in constant time; throws UNAUTHORIZED. */
export function authenticateOperator(request: FastifyRequest, tokenHash: Buffer): void {
  const token = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined || !timingSafeEqual(hashToken(token), tokenHash)) {
    throw new Problem('UNAUTHORIZED', 'The operator token is missing or not valid.')
  }
}

/** SHA-256 of an operator token: what the server is given instead of the token. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

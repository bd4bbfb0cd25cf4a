import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { KeyMode, Permission } from '../contract/enums.ts'
import { invalid, Problem } from '../contract/errors.ts'
import { type Attempts, operatorBucket } from '../core/people/attempts.ts'
import type { SessionCookies } from './session-cookies.ts'

/** Who holds a key. Answers at once where it knows; null for keys that are not, or no longer, valid. */
export type Keys = {
  lookup(rawKey: string): Caller | null | Promise<Caller | null>
}

/** Who is signed in to the console. Answers at once where it knows. */
export type PeopleAccess = {
  cookies: Pick<SessionCookies, 'read'>
  /** Where browsers reach us, when it is configured: `https://posthorn.example.com`. */
  publicOrigin: string | null
  /** Null for a session that is none, or has ended. */
  lookup(token: string): SignedIn | null | Promise<SignedIn | null>
  /** The same without counting as use: it keeps no session alive. */
  glance(token: string): SignedIn | null | Promise<SignedIn | null>
  /** The caller that they are for an account; null for one that they do not act for. */
  callerFor(who: SignedIn, accountId: string, mode: KeyMode): Caller | null | Promise<Caller | null>
}

/** No key of ours is longer; more is not worth hashing. */
const MAX_KEY_LENGTH = 200

/**
 * The caller behind the request's key, or behind the cookie where there is no key; throws
 * UNAUTHORIZED. What their account may still do is `requireActive`'s to say.
 */
export function authenticate(
  request: FastifyRequest,
  keys: Keys,
  people: PeopleAccess,
): Caller | Promise<Caller> {
  const { headers } = request
  if (headers['x-api-key'] === undefined && headers.cookie !== undefined) {
    return authenticateMember(request, people)
  }
  const found = holderOfKey(request, keys)
  return found instanceof Promise ? found.then(requireKnown) : requireKnown(found)
}

/** Whose key the request shows; null for none, and for one that is not valid. */
export function holderOfKey({ headers }: FastifyRequest, keys: Keys): Caller | null | Promise<Caller | null> {
  const rawKey = headers['x-api-key']
  if (typeof rawKey !== 'string' || rawKey === '' || rawKey.length > MAX_KEY_LENGTH) return null
  return keys.lookup(rawKey)
}

/**
 * Whether the caller of a stream still has access: a stream outlives the check at its start. False, too,
 * where that cannot be found out.
 */
export async function isStillAllowed(
  request: FastifyRequest,
  permission: Permission,
  keys: Keys,
  people: PeopleAccess,
): Promise<boolean> {
  try {
    const caller = await authenticate(request, keys, { ...people, lookup: people.glance })
    requireActive(caller)
    requirePermission(caller, permission)
    return true
  } catch {
    return false
  }
}

function requireKnown(caller: Caller | null): Caller {
  if (caller === null) throw new Problem('UNAUTHORIZED')
  return caller
}

/** An account that is not suspended; throws FORBIDDEN. */
export function requireActive({ account }: Caller): void {
  if (account.status === 'suspended') throw new Problem('FORBIDDEN', 'This account is suspended.')
}

/** Whoever is signed in and names an account that they act for. */
async function authenticateMember(request: FastifyRequest, people: PeopleAccess): Promise<Caller> {
  const who = await authenticatePerson(request, people)
  const accountId = request.headers['x-posthorn-account']
  if (typeof accountId !== 'string')
    throw invalid(ACCOUNT_HEADER, 'must be the id of an account, such as acc_…')
  const caller = await people.callerFor(who, accountId, readMode(request.headers['x-posthorn-mode']))
  if (!caller) throw new Problem('FORBIDDEN', 'You are not a member of this account.')
  return caller
}

const ACCOUNT_HEADER = 'X-Posthorn-Account'
const MODE_HEADER = 'X-Posthorn-Mode'

function readMode(text: string | string[] | undefined): KeyMode {
  if (text === undefined || text === 'live') return 'live'
  if (text === 'test') return 'test'
  throw invalid(MODE_HEADER, 'must be live or test')
}

/** Whoever is signed in; throws UNAUTHORIZED, or FORBIDDEN for a change that another site's page may have asked for. */
export async function authenticatePerson(request: FastifyRequest, people: PeopleAccess): Promise<SignedIn> {
  const token = people.cookies.read(request.headers.cookie)
  const who = token === null ? null : await people.lookup(token)
  if (!who) throw new Problem('UNAUTHORIZED', 'You are not signed in, or the session has ended.')
  if (!SAFE_METHODS.has(request.method)) {
    requireSameSite(request, people)
    requireToken(request.headers['x-csrf-token'], who)
  }
  request.signedIn = who
  return who
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The page that asks is one of ours, as far as its browser says; throws FORBIDDEN. */
export function requireSameSite({ headers }: FastifyRequest, { publicOrigin }: PeopleAccess): void {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const ours =
    origin === undefined
      ? site === undefined || site === 'same-origin' || site === 'none'
      : origin === publicOrigin || (headers.host !== undefined && URL.parse(origin)?.host === headers.host)
  if (!ours) throw new Problem('FORBIDDEN', 'The request comes from another site.')
}

function requireToken(given: string | string[] | undefined, who: SignedIn): void {
  if (typeof given === 'string' && timingSafeEqual(hashToken(given), hashToken(who.csrfToken))) return
  throw new Problem('FORBIDDEN', 'X-CSRF-Token is missing, or does not belong to this session.')
}

/** A key with this permission, of an account with a verified phone; throws FORBIDDEN. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.permissions.has(permission)) {
    const who = caller.keyPrefix === '' ? 'You lack' : 'This key lacks'
    throw new Problem('FORBIDDEN', `${who} the permission ${permission}.`)
  }
  if (!caller.account.phone.verified) {
    throw new Problem('FORBIDDEN', 'The phone number of this account is not verified.')
  }
}

/** An owner's key; throws FORBIDDEN. */
export function requireOwner(caller: Caller): void {
  if (caller.role !== 'owner') throw new Problem('FORBIDDEN', 'Only an owner of the account may do this.')
}

/** What the server knows of the operator's token. */
export type OperatorToken = {
  /** SHA-256. */
  hash: Buffer
  /** So short that it can be guessed. */
  isWeak: boolean
}

/** A shorter one can be guessed by whoever tries for long enough. */
export const LEAST_TOKEN_CHARACTERS = 16

export function readOperatorToken(token: string): OperatorToken {
  return { hash: hashToken(token), isWeak: token.length < LEAST_TOKEN_CHARACTERS }
}

type OperatorAccess = { operatorToken: OperatorToken; people: PeopleAccess; attempts: Attempts }

/**
 * The operator's token, or an operator who is signed in; throws UNAUTHORIZED or FORBIDDEN, and RATE_LIMITED
 * after too many wrong tokens from one place.
 */
export function authenticateOperator(
  request: FastifyRequest,
  { operatorToken, people, attempts }: OperatorAccess,
): void | Promise<void> {
  // Bearer alone: a proxy in front may use the same header for a password of its own.
  const hasToken = /^Bearer\b/i.test(request.headers.authorization ?? '')
  if (hasToken || people.cookies.read(request.headers.cookie) === null) {
    return requireOperatorToken(request, operatorToken, attempts)
  }
  return authenticatePerson(request, people).then(who => {
    if (!who.operator) throw new Problem('FORBIDDEN', 'Only the operator may do this.')
  })
}

/** `Authorization: Bearer <operator token>`, compared by hash in constant time. */
function requireOperatorToken(request: FastifyRequest, known: OperatorToken, attempts: Attempts): void {
  const token = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined) throw operatorUnauthorized()
  const isRight = timingSafeEqual(hashToken(token), known.hash)
  // A long token is not counted: others' wrong tries from the same address must not shut its holder out.
  if (isRight && !known.isWeak) return
  const chance = operatorBucket(request.ip)
  attempts.take(chance)
  if (!isRight) throw operatorUnauthorized()
  attempts.release(chance)
}

function operatorUnauthorized(): Problem {
  return new Problem('UNAUTHORIZED', 'The operator token is missing or not valid.')
}

/** SHA-256 of an operator token. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

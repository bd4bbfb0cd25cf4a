import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { KeyMode, Permission } from '../contract/enums.ts'
import { invalid, Problem } from '../contract/errors.ts'
import { type Attempts, operatorBucket } from '../core/people/attempts.ts'
import type { SessionCookies } from './session-cookies.ts'

/** Finds the holder of a key: synchronously if it is cached; null if the key is not valid. */
export type Keys = {
  lookup(rawKey: string): Caller | null | Promise<Caller | null>
}

/** Finds the person who is signed in to the console: synchronously if the session is cached. */
export type PeopleAccess = {
  cookies: Pick<SessionCookies, 'read'>
  /** The origin of the console, such as `https://posthorn.example.com`; null if not configured. */
  publicOrigin: string | null
  /** Null if there is no such session, or it has ended. */
  lookup(token: string): SignedIn | null | Promise<SignedIn | null>
  /** Like `lookup`, but does not count as use of the session, so it does not prolong it. */
  peek(token: string): SignedIn | null | Promise<SignedIn | null>
  /** The person as a caller of an account; null if they may not act for it. */
  callerFor(who: SignedIn, accountId: string, mode: KeyMode): Caller | null | Promise<Caller | null>
}

/** Longer than any key; a longer value is not hashed. */
const MAX_KEY_LENGTH = 200

/**
 * Identifies the caller by the request's key, or by the session cookie if there is no key; throws
 * UNAUTHORIZED. `requireActive` checks whether the account is suspended.
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

/** The holder of the request's key; null if the key is absent or not valid. */
export function holderOfKey({ headers }: FastifyRequest, keys: Keys): Caller | null | Promise<Caller | null> {
  const rawKey = headers['x-api-key']
  if (typeof rawKey !== 'string' || rawKey === '' || rawKey.length > MAX_KEY_LENGTH) return null
  return keys.lookup(rawKey)
}

/** Throws what a new request would get if the caller of a long one has lost access since its start. */
export async function requireStillAllowed(
  request: FastifyRequest,
  permission: Permission,
  keys: Keys,
  people: PeopleAccess,
): Promise<void> {
  const caller = await authenticate(request, keys, { ...people, lookup: people.peek })
  requireActive(caller)
  requirePermission(caller, permission)
}

/**
 * Whether the caller of an open stream still has access, which was last checked at its start. False also if
 * the check fails.
 */
export function isStillAllowed(...asked: Parameters<typeof requireStillAllowed>): Promise<boolean> {
  return requireStillAllowed(...asked).then(
    () => true,
    () => false,
  )
}

function requireKnown(caller: Caller | null): Caller {
  if (caller === null) throw new Problem('UNAUTHORIZED')
  return caller
}

/** Throws FORBIDDEN if the account is suspended. */
export function requireActive({ account }: Caller): void {
  if (account.status === 'suspended') throw new Problem('FORBIDDEN', 'This account is suspended.')
}

/** The signed-in person, as a caller of the account that the request names. */
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

/** The signed-in person. Throws UNAUTHORIZED, or FORBIDDEN for a change that may come from another site's page. */
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

/** Throws FORBIDDEN if the browser says that the request comes from another site's page. */
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

/** Throws FORBIDDEN if the caller lacks the permission, or the account's phone is not verified. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.permissions.has(permission)) {
    const who = caller.keyPrefix === '' ? 'You lack' : 'This key lacks'
    throw new Problem('FORBIDDEN', `${who} the permission ${permission}.`)
  }
  if (!caller.account.phone.verified) {
    throw new Problem('FORBIDDEN', 'The phone number of this account is not verified.')
  }
}

/** Throws FORBIDDEN if the caller is not an owner of the account. */
export function requireOwner(caller: Caller): void {
  if (caller.role !== 'owner') throw new Problem('FORBIDDEN', 'Only an owner of the account may do this.')
}

/** The server stores only the hash of the operator token. */
export type OperatorToken = {
  /** SHA-256. */
  hash: Buffer
  /** Whether it is short enough to be guessed. */
  isWeak: boolean
}

/** A shorter token can be guessed with enough attempts. */
export const MIN_TOKEN_CHARACTERS = 16

/** What the server keeps of the token. */
export function readOperatorToken(token: string): OperatorToken {
  return { hash: hashToken(token), isWeak: token.length < MIN_TOKEN_CHARACTERS }
}

type OperatorAccess = { operatorToken: OperatorToken; people: PeopleAccess; attempts: Attempts }

/**
 * Requires the operator token, or a signed-in operator; throws UNAUTHORIZED or FORBIDDEN, and RATE_LIMITED
 * after too many wrong tokens from one IP address.
 */
export function authenticateOperator(
  request: FastifyRequest,
  { operatorToken, people, attempts }: OperatorAccess,
): void | Promise<void> {
  // Only `Bearer`: a proxy in front may use the same header for its own password.
  const hasToken = /^Bearer\b/i.test(request.headers.authorization ?? '')
  if (hasToken || people.cookies.read(request.headers.cookie) === null) {
    return requireOperatorToken(request, operatorToken, attempts)
  }
  return authenticatePerson(request, people).then(who => {
    if (!who.operator) throw new Problem('FORBIDDEN', 'Only the operator may do this.')
  })
}

/** Requires `Authorization: Bearer <operator token>`; the hashes are compared in constant time. */
function requireOperatorToken(request: FastifyRequest, known: OperatorToken, attempts: Attempts): void {
  const token = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined) throw operatorUnauthorized()
  const isRight = timingSafeEqual(hashToken(token), known.hash)
  // A correct long token is not counted: wrong attempts of others from the same address must not lock its holder out.
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

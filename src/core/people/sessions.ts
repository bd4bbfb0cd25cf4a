import type { Caller, SignedIn } from '../../contract/caller.ts'
import type { SessionRow as SessionListed, SessionView } from '../../contract/console.ts'
import type { KeyMode } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Database, Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Seal } from '../../infra/seal.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { type AccountId, type Ids, isId, timeOf, withPrefix } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { permissionsOfRole } from '../accounts/rights.ts'
import type { AccountSnapshots } from '../accounts/snapshots.ts'
import type { Browsers } from './browsers.ts'
import { listAccountsOf } from './membership-store.ts'
import {
  deleteSession,
  deleteSessionsOf,
  insertSession,
  listSessions,
  type SessionId,
  type SessionRow,
  type SessionWithUser,
  selectSession,
  sweepSessions,
  updateLastSeen,
} from './session-store.ts'
import { hashToken, newToken } from './tokens.ts'
import { selectUser, type UserId, type UserRow } from './user-store.ts'
import type { Visit } from './visit.ts'

/** A new login: the session's cookie, the browser's mark, the person, and the answer's body. */
export type SignInResult = { token: string; browser: string; signedIn: SignedIn; view: SessionView }

/** The person and the credentials that were proved. */
export type VerifiedUser = Pick<UserRow, 'id' | 'password' | 'totpSecret'>

/** Console sessions. A session that was ended on any node is refused within a second, an expired one at once. */
export type Sessions = {
  /** Synchronous when cached. Null for an unknown or ended session. */
  lookup(token: string): SignedIn | null | Promise<SignedIn | null>
  /** The same, but does not count as a use: event streams of an untouched page must not keep a session alive. */
  peek(token: string): SignedIn | null | Promise<SignedIn | null>
  /** The caller that the person is for an account; null where they are not a member. */
  callerFor(who: SignedIn, accountId: string, mode: KeyMode): Caller | null | Promise<Caller | null>
  /**
   * Begins a session, always with a new cookie, which nobody can have known before; in the transaction of a change that
   * signs the person in, so that neither is without the other. UNAUTHORIZED where the login was changed or removed while
   * its password was being verified.
   */
  begin(db: Db, user: VerifiedUser, visit: Visit): Promise<SignInResult>
  view(who: SignedIn): Promise<SessionView>
  list(who: SignedIn): Promise<SessionListed[]>
  /** NOT_FOUND for a session of another person. */
  end(who: SignedIn, id: string): Promise<void>
  /** Ends all sessions of a person, within a transaction. */
  endAll(tx: Db, userId: UserId): Promise<void>
  /** Drops a person from this node's cache, after a change. */
  forget(userId: UserId): void
  /** Writes the times at which sessions were last used since the last call; called by a chore and at the stop. */
  flushSeen(): Promise<void>
  /** Deletes expired sessions. */
  sweep(): Promise<number>
}

export type SessionsDeps = {
  db: Database
  clock: Clock
  ids: Ids
  random: Random
  seal: Pick<Seal, 'hashSecret'>
  changes: Pick<Changes, 'fresh' | 'subscribe' | 'publish'>
  accounts: AccountSnapshots
  browsers: Pick<Browsers, 'issueToken'>
}

/** A session expires when it was not used for so long. */
export const IDLE_TIMEOUT_MS = 12 * HOUR_MS
/** A session expires after this, however much it is used. */
export const MAX_AGE_MS = 30 * 24 * HOUR_MS
const MAX_CACHED_SESSIONS = 5_000
/** Tables whose changes drop a person from the cache. */
const TABLES = new Set(['users', 'memberships', 'console_sessions'])

type CachedSession = {
  signedIn: SignedIn
  userId: UserId
  id: SessionId
  createdAtMs: number
  seenAtMs: number
}
/** Whether the look-up counts as a use of the session. */
type Use = (held: CachedSession, nowMs: number) => SignedIn

export function createSessions(deps: SessionsDeps): Sessions {
  const { db, clock, ids, random, seal, changes } = deps
  let seen = new Map<SessionId, CachedSession>()

  const cache = createFreshCache<string, CachedSession>({
    clock,
    fresh: changes.fresh,
    maxEntries: MAX_CACHED_SESSIONS,
    ownerOf: (_, held) => held.userId,
    load: read,
  })
  changes.subscribe({
    changed(table, id) {
      // For these tables, the id in the notification is the person's.
      if (TABLES.has(table) && id) cache.forget(withPrefix('usr', id))
    },
    reset: cache.clear,
  })

  async function read(hash: string): Promise<CachedSession | null> {
    const row = await selectSession(db, hash)
    return row && toCachedSession(row)
  }

  function toCachedSession(row: SessionWithUser): CachedSession {
    return {
      signedIn: signedInOf(row),
      userId: row.userId,
      id: row.id,
      createdAtMs: row.createdAtMs,
      seenAtMs: row.lastSeenAtMs,
    }
  }

  function signedInOf({ id, userId, email, name, operator, memberships }: SessionWithUser): SignedIn {
    return {
      sessionId: id,
      userId,
      email,
      name,
      operator,
      // Derived from the session's id, so each session has its own.
      csrfToken: seal.hashSecret(`csrf:${id}`).toString('base64url'),
      memberships: new Map(
        memberships.map(({ accountId, role, permissions }) => [
          accountId,
          { role, permissions: new Set(permissionsOfRole({ role, permissions })) },
        ]),
      ),
    }
  }

  function lookup(token: string): SignedIn | null | Promise<SignedIn | null> {
    return find(token, recordUse)
  }

  function peek(token: string): SignedIn | null | Promise<SignedIn | null> {
    return find(token, held => held.signedIn)
  }

  function find(token: string, use: Use): SignedIn | null | Promise<SignedIn | null> {
    const hash = hashToken(token).toString('hex')
    const held = cache.get(hash)
    return held instanceof Promise
      ? held.then(found => checkSession(found, hash, use))
      : checkSession(held, hash, use)
  }

  function checkSession(
    held: CachedSession | null,
    hash: string,
    use: Use,
  ): SignedIn | null | Promise<SignedIn | null> {
    if (!held) return null
    const nowMs = clock.now()
    if (nowMs - held.createdAtMs >= MAX_AGE_MS) return null
    // Another node may have noted a later use since this one read the session.
    if (nowMs - held.seenAtMs >= IDLE_TIMEOUT_MS)
      return read(hash).then(found => checkReadSession(found, held, use))
    return use(held, nowMs)
  }

  function checkReadSession(found: CachedSession | null, held: CachedSession, use: Use): SignedIn | null {
    const nowMs = clock.now()
    if (!found || nowMs - found.seenAtMs >= IDLE_TIMEOUT_MS) return null
    const signedIn = use(found, nowMs)
    // Otherwise each later look-up would read the store again.
    held.seenAtMs = found.seenAtMs
    return signedIn
  }

  function recordUse(held: CachedSession, nowMs: number): SignedIn {
    held.seenAtMs = nowMs
    seen.set(held.id, held)
    return held.signedIn
  }

  function callerFor(
    who: SignedIn,
    accountId: string,
    mode: KeyMode,
  ): Caller | null | Promise<Caller | null> {
    const membership = isId('acc', accountId) ? who.memberships.get(accountId) : undefined
    if (!membership) return null
    const account = deps.accounts.snapshot(accountId as AccountId)
    const make = (found: Caller['account'] | null): Caller | null =>
      found && {
        keyId: who.userId,
        keyName: who.name,
        keyPrefix: '',
        keyExpiresAtMs: null,
        mode,
        role: membership.role,
        permissions: membership.permissions,
        account: found,
      }
    return account instanceof Promise ? account.then(make) : make(account)
  }

  async function begin(tx: Db, user: VerifiedUser, { ip, userAgent, browser }: Visit): Promise<SignInResult> {
    const token = newToken(random)
    const nowMs = clock.now()
    const session: SessionRow = {
      id: ids.next('ses'),
      userId: user.id,
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs,
      ip,
      userAgent,
    }
    const isStored = await insertSession(tx, session, hashToken(token), user)
    const row = isStored && (await selectSession(tx, hashToken(token).toString('hex')))
    if (!row) throw new Problem('UNAUTHORIZED', 'This login was changed or removed during the sign-in.')
    const signedIn = signedInOf(row)
    const mark = deps.browsers.issueToken(signedIn.email, browser)
    return { token, browser: mark, signedIn, view: await viewIn(tx, signedIn) }
  }

  async function viewIn(tx: Db, who: SignedIn): Promise<SessionView> {
    const user = await selectUser(tx, who.userId)
    if (!user) throw new Problem('UNAUTHORIZED', 'This login was removed.')
    const accounts = await listAccountsOf(tx, who.userId)
    const createdAtMs = timeOf(who.sessionId)
    return {
      user: {
        id: user.id,
        email: user.email,
        name: user.name,
        operator: user.operator,
        totp: user.totpSecret !== null,
        recoveryCodesLeft: user.recoveryCodesLeft,
        createdAt: toIso(timeOf(user.id)),
      },
      memberships: accounts.map(({ role, permissions, ...account }) => ({
        account,
        role,
        permissions: permissionsOfRole({ role, permissions }),
      })),
      csrfToken: who.csrfToken,
      session: {
        id: who.sessionId,
        createdAt: toIso(createdAtMs),
        expiresAt: toIso(createdAtMs + MAX_AGE_MS),
      },
    }
  }

  async function list(who: SignedIn): Promise<SessionListed[]> {
    const nowMs = clock.now()
    const rows = await listSessions(db, who.userId)
    return rows.filter(row => isAlive(row, nowMs) || row.id === who.sessionId).map(row => viewRow(row, who))
  }

  function viewRow(row: SessionRow, who: SignedIn): SessionListed {
    const lastSeenAtMs = Math.max(row.lastSeenAtMs, seen.get(row.id)?.seenAtMs ?? 0)
    return {
      id: row.id,
      current: row.id === who.sessionId,
      createdAt: toIso(row.createdAtMs),
      lastSeenAt: toIso(lastSeenAtMs),
      ip: row.ip,
      userAgent: row.userAgent,
    }
  }

  function forget(userId: UserId): void {
    changes.publish('console_sessions', withPrefix('acc', userId))
  }

  async function flushSeen(): Promise<void> {
    if (seen.size === 0) return
    const batch = seen
    seen = new Map()
    try {
      await updateLastSeen(
        db,
        [...batch.values()].map(({ id, seenAtMs }) => ({ id, atMs: seenAtMs })),
      )
    } catch (error) {
      // Uses since then are later, and win over those of the batch.
      seen = new Map([...batch, ...seen])
      throw error
    }
  }

  return {
    lookup,
    peek,
    callerFor,
    begin,
    view: who => viewIn(db, who),
    list,
    async end(who, id) {
      const ended = isId('ses', id) && (await deleteSession(db, who.userId, id))
      forget(who.userId)
      if (!ended) throw new Problem('NOT_FOUND', 'Session not found')
    },
    endAll: deleteSessionsOf,
    forget,
    flushSeen,
    sweep: () => sweepSessions(db, clock.now() - IDLE_TIMEOUT_MS, clock.now() - MAX_AGE_MS),
  }
}

function isAlive({ createdAtMs, lastSeenAtMs }: SessionRow, nowMs: number): boolean {
  return nowMs - createdAtMs < MAX_AGE_MS && nowMs - lastSeenAtMs < IDLE_TIMEOUT_MS
}

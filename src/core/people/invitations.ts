import type { Actor } from '../../contract/actor.ts'
import type { InvitationAccept, InvitationPreview } from '../../contract/console.ts'
import { MIN_PASSWORD_LENGTH } from '../../contract/console.ts'
import type { KeyRole, Permission } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { AccountId, Ids } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { type Attempts, addressBucket, countingAttempt } from './attempts.ts'
import type { Authentication } from './authentication.ts'
import { checkNewPassword, emailKey, readEmail } from './email.ts'
import {
  deleteResetsForUser,
  type InvitationRow,
  lockInviter,
  markInvitationAccepted,
  selectOpenInvitation,
  upsertInvitation,
} from './invitation-store.ts'
import { insertMembership } from './membership-store.ts'
import type { Passwords } from './passwords.ts'
import type { Sessions, SignInResult, VerifiedUser } from './sessions.ts'
import { hashToken, newToken } from './tokens.ts'
import {
  clearTotp,
  insertUser,
  selectUserByEmail,
  setOperator,
  setPassword,
  type UserId,
  type UserRow,
} from './user-store.ts'
import type { Visit } from './visit.ts'

/** Invitations and password resets: links that are made, previewed and accepted. */
export type Invitations = {
  /** Only this answer has the link: the store has its hash. FORBIDDEN where the inviter may no longer invite. */
  create(invite: NewInvitation): Promise<{ invitation: InvitationRow; link: string }>
  /** NOT_FOUND for a link that is not valid, or no longer. */
  preview(token: string, visit: Visit): Promise<InvitationPreview>
  /**
   * Accepts an invitation, once, and signs the person in. A person with a login proves it by their password,
   * as at a login; others get a new login. A link of the kind `reset` sets the password of its login. Where the sign-in
   * fails, the link is not used.
   */
  accept(body: InvitationAccept, visit: Visit): Promise<SignInResult & { joined: AccountId | null }>
}

export type NewInvitation = {
  kind: 'invitation' | 'reset'
  /** `PLATFORM` for operators and resets. */
  accountId: AccountId
  email: string
  role: KeyRole | 'operator' | null
  permissions: Permission[]
  /** Their open invitations are deleted when they lose the right to invite. */
  inviter: Actor
  /** The person whose password a reset sets; null for an invitation. */
  userId: UserId | null
  /** The console's origin, with which the link begins. */
  origin: string
}

export type InvitationsDeps = {
  db: Database
  clock: Clock
  ids: Ids
  random: Random
  attempts: Attempts
  passwords: Passwords
  proof: Authentication
  sessions: Sessions
}

const INVITATION_MS = 7 * DAY_MS
const RESET_MS = DAY_MS

export function createInvitations(deps: InvitationsDeps): Invitations {
  const { db, clock, ids, random, attempts, passwords, proof, sessions } = deps

  async function make({ origin, ...invite }: NewInvitation) {
    const email = readEmail(invite.email)
    const token = newToken(random)
    const lastsMs = invite.kind === 'reset' ? RESET_MS : INVITATION_MS
    const id = ids.next('inv')
    const row = { ...invite, id, email, emailKey: emailKey(email), expiresAtMs: clock.now() + lastsMs }
    const invitation = await db.transaction(async tx => {
      if (!(await lockInviter(tx, row.accountId, row.inviter))) throw new Problem('FORBIDDEN')
      await upsertInvitation(tx, row, hashToken(token))
      return (await selectOpenInvitation(tx, hashToken(token), clock.now()))!
    })
    // In the fragment, which browsers do not send: so it is in no log on the way.
    return { invitation, link: `${origin}/invitation#${token}` }
  }

  async function find(token: string, { ip }: Visit): Promise<InvitationRow> {
    const row = await countingAttempt(attempts, [addressBucket(ip)], () =>
      selectOpenInvitation(db, hashToken(token), clock.now()),
    )
    if (!row) throw invalidLink()
    return row
  }

  async function preview(token: string, visit: Visit): Promise<InvitationPreview> {
    const row = await find(token, visit)
    return {
      kind: row.kind,
      email: row.email,
      accountName: row.accountName,
      role: row.role,
      hasLogin: (await selectUserByEmail(db, emailKey(row.email))) !== null,
      expiresAt: toIso(row.expiresAtMs),
    }
  }

  async function accept(body: InvitationAccept, visit: Visit) {
    const row = await find(body.token, visit)
    const known = await selectUserByEmail(db, emailKey(row.email))
    const entered = await (row.kind === 'reset'
      ? resetPassword(row, known, body, visit)
      : known
        ? joinWithLogin(row, known, body, visit)
        : joinWithNewLogin(row, body, visit))
    sessions.forget(entered.signedIn.userId)
    const joined = row.accountId === PLATFORM ? null : row.accountId
    return { ...entered, joined }
  }

  /** Uses the link up, makes its change and begins the session, all together. */
  function useLink(
    row: InvitationRow,
    visit: Visit,
    change: (tx: Db) => Promise<VerifiedUser>,
  ): Promise<SignInResult> {
    return db.transaction(async tx => {
      await markAccepted(tx, row)
      return sessions.begin(tx, await change(tx), visit)
    })
  }

  async function resetPassword(
    row: InvitationRow,
    known: UserRow | null,
    { password }: InvitationAccept,
    visit: Visit,
  ): Promise<SignInResult> {
    if (!known || known.id !== row.userId) throw invalidLink()
    const hash = await hashNewPassword(password, row.email)
    return useLink(row, visit, async tx => {
      await setPassword(tx, known.id, hash)
      await deleteResetsForUser(tx, known.id)
      await clearTotp(tx, known.id)
      await sessions.endAll(tx, known.id)
      return { id: known.id, password: hash, totpSecret: null }
    })
  }

  async function joinWithLogin(
    row: InvitationRow,
    known: UserRow,
    body: InvitationAccept,
    visit: Visit,
  ): Promise<SignInResult> {
    const { password, totp } = body
    const user = await proof.verifyLogin({ email: known.email, password, totp }, visit)
    return useLink(row, visit, async tx => {
      await grantRole(tx, row, user.id)
      return user
    })
  }

  async function joinWithNewLogin(
    row: InvitationRow,
    { name, password }: InvitationAccept,
    visit: Visit,
  ): Promise<SignInResult> {
    if (name === undefined) throw invalid('name', 'is required for a new login')
    const hash = await hashNewPassword(password, row.email)
    const userId = ids.next('usr')
    return useLink(row, visit, async tx => {
      const key = emailKey(row.email)
      const user = { id: userId, email: row.email, emailKey: key, name, password: hash, operator: false }
      if (!(await insertUser(tx, user)))
        throw new Problem('CONFLICT', 'A login with this e-mail address exists already.')
      await grantRole(tx, row, userId)
      return { id: userId, password: hash, totpSecret: null }
    })
  }

  function hashNewPassword(password: string, email: string): Promise<string> {
    if ([...password].length < MIN_PASSWORD_LENGTH) {
      throw invalid('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
    }
    checkNewPassword('password', password, email)
    return passwords.hash(password)
  }

  /** Throws for the second of two concurrent uses of a link. */
  async function markAccepted(tx: Db, row: InvitationRow): Promise<void> {
    if (!(await markInvitationAccepted(tx, row, clock.now()))) throw invalidLink()
  }

  async function grantRole(
    tx: Db,
    { role, accountId, permissions }: InvitationRow,
    userId: UserId,
  ): Promise<void> {
    if (role === 'operator') await setOperator(tx, userId, true)
    else await insertMembership(tx, { accountId, userId, role: role!, permissions }, clock.now())
  }

  return { create: make, preview, accept }
}

function invalidLink(): Problem {
  return new Problem('NOT_FOUND', 'The link is not valid: it was used, has expired, or was withdrawn.')
}

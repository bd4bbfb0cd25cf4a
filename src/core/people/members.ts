import { actorOfCaller } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import type { KeyRole, Permission } from '../../contract/enums.ts'
import { PERMISSIONS } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import {
  type Invitation,
  type InvitationCreate,
  type InvitationMade,
  type MAIL_STATES,
  type MadeKey,
  MEMBER_PERMISSIONS,
  type Member,
  type MemberRemoved,
  type MemberUpdate,
} from '../../contract/member.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Clock, isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, isId, timeOf } from '../../lib/ids.ts'
import { type KeyRow, listKeysMadeBy } from '../accounts/key-store.ts'
import { addsRights, permissionsOfRole, requireLastingKey, requireRoleRights } from '../accounts/rights.ts'
import { lockAccount } from '../accounts/store.ts'
import { emailKey, readEmail } from './email.ts'
import {
  deleteInvitation,
  deleteInvitationsByInviter,
  deleteInvitationsToAccount,
  type InvitationRow,
  listInvitations,
} from './invitation-store.ts'
import type { Invitations } from './invitations.ts'
import {
  countOtherOwners,
  deleteMembership,
  isMemberByEmail,
  listMembers,
  type MemberRow,
  selectMember,
  updateMembership,
} from './membership-store.ts'
import type { Sessions } from './sessions.ts'
import type { UserId } from './user-store.ts'

/**
 * The members of an account, managed by its owners. Owners cannot grant permissions that they lack, nor change
 * a member who has more. Refusals are Problems: NOT_FOUND, CONFLICT, VALIDATION_ERROR, FORBIDDEN.
 */
export type Members = {
  list(caller: Caller, query: PageQuery): Promise<Page<Member>>
  update(caller: Caller, id: string, input: MemberUpdate): Promise<Member>
  /** Deletes their open invitations as well; the API keys that they made stay valid, and are listed in the answer. */
  remove(caller: Caller, id: string): Promise<MemberRemoved>
  /** Within a transaction: CONFLICT where the account would have no owner left. */
  removeIn(
    tx: Db,
    accountId: AccountId,
    id: UserId,
    checkMayChange?: (member: MemberRow) => void,
  ): Promise<void>
  listInvitations(caller: Caller, query: PageQuery): Promise<Page<Invitation>>
  /** `origin`: the console's origin, as the caller reached it. */
  invite(caller: Caller, input: InvitationCreate, origin: string): Promise<InvitationMade>
  withdraw(caller: Caller, id: string): Promise<{ id: string; deleted: true }>
}

export type MailState = (typeof MAIL_STATES)[number]

export type MembersDeps = {
  db: Database
  clock: Clock
  invitations: Invitations
  sessions: Sessions
  /** Mails a link over the account's e-mail channel; never rejects. */
  mail(caller: Caller, letter: { to: string; subject: string; text: string }): Promise<MailState>
  /** The console's public URL, if configured. */
  publicUrl: string | null
}

export function createMembers(deps: MembersDeps): Members {
  const { db, clock, sessions } = deps

  async function update(caller: Caller, id: string, input: MemberUpdate): Promise<Member> {
    const accountId = caller.account.id
    const userId = readUserId(id)
    const row = await db.transaction(async tx => {
      await lockAccount(tx, accountId)
      const before = (await selectMember(tx, accountId, userId)) ?? throwUnknownMember()
      const role = input.role ?? before.role
      const permissions = permissionsOf(role, input.permissions ?? permissionsToKeep(before, role))
      for (const each of [before, { role, permissions }]) requireRoleRights(caller, each)
      if (addsRights(before, { role, permissions })) requireLastingKey(caller)
      if (role !== 'owner') await requireOtherOwner(tx, accountId, before)
      await updateMembership(tx, { accountId, userId, role, permissions })
      await deleteInvitationsByInviter(tx, userId)
      return { ...before, role, permissions }
    })
    sessions.forget(userId)
    return viewMember(row)
  }

  async function removeIn(
    tx: Db,
    accountId: AccountId,
    userId: UserId,
    checkMayChange: (member: MemberRow) => void = () => {},
  ): Promise<void> {
    await lockAccount(tx, accountId)
    const before = (await selectMember(tx, accountId, userId)) ?? throwUnknownMember()
    checkMayChange(before)
    await requireOtherOwner(tx, accountId, before)
    await deleteMembership(tx, accountId, userId)
    await deleteInvitationsToAccount(tx, accountId, userId)
    await deleteInvitationsByInviter(tx, userId)
  }

  async function invite(caller: Caller, input: InvitationCreate, origin: string) {
    const { account } = caller
    const email = readEmail(input.email)
    const permissions = permissionsOf(input.role, input.permissions)
    requireRoleRights(caller, { role: input.role, permissions })
    requireLastingKey(caller)
    if (await isMemberByEmail(db, account.id, emailKey(email))) {
      throw new Problem('CONFLICT', 'This address is a member already.')
    }
    const made = await deps.invitations.create({
      kind: 'invitation',
      accountId: account.id,
      email,
      role: input.role,
      permissions,
      inviter: actorOfCaller(caller),
      userId: null,
      origin: deps.publicUrl ?? origin,
    })
    const mail =
      input.mail === false ? 'not_asked' : await deps.mail(caller, renderInvitationMail(caller, made, email))
    return { invitation: viewInvitation(made.invitation, clock.now()), link: made.link, mail }
  }

  return {
    async list(caller, { limit = DEFAULT_LIMIT, cursor }) {
      const rows = await listMembers(db, caller.account.id, readIdCursor('usr', cursor), limit + 1)
      return pageById(rows, limit, viewMember)
    },
    update,
    async remove(caller, id) {
      const userId = readUserId(id)
      const left = await db.transaction(async tx => {
        await removeIn(tx, caller.account.id, userId, member => requireRoleRights(caller, member))
        return listKeysMadeBy(tx, userId, caller.account.id, clock.now())
      })
      sessions.forget(userId)
      return { id, deleted: true, apiKeys: left.map(viewRemainingKey) }
    },
    removeIn,
    async listInvitations(caller, { limit = DEFAULT_LIMIT, cursor }) {
      const before = readIdCursor('inv', cursor)
      const rows = await listInvitations(db, caller.account.id, before, limit + 1)
      return pageById(rows, limit, row => viewInvitation(row, clock.now()))
    },
    invite,
    async withdraw(caller, id) {
      // Not with a test key: members act on live data.
      requireRoleRights(caller, { role: 'member', permissions: [] })
      if (!isId('inv', id) || !(await deleteInvitation(db, caller.account.id, id))) throw unknownInvitation()
      return { id, deleted: true }
    },
  }
}

/** CONFLICT where this member is the last owner. The caller has locked the account, so its members cannot change meanwhile. */
export async function requireOtherOwner(
  tx: Db,
  accountId: AccountId,
  { id, role }: MemberRow,
): Promise<void> {
  if (role !== 'owner' || (await countOtherOwners(tx, accountId, id)) > 0) return
  throw new Problem('CONFLICT', 'An account needs at least one owner: make another member an owner first.')
}

/** The permissions to store for a role; an owner may do everything, and has no list. */
export function permissionsOf(role: KeyRole, given: readonly Permission[] | undefined): Permission[] {
  return role === 'owner' ? [] : [...new Set(given ?? MEMBER_PERMISSIONS)]
}

/** The permissions to keep where no new ones are given: none after a change of the role, since an owner has no list. */
function permissionsToKeep(before: MemberRow, role: KeyRole): Permission[] | undefined {
  return role === before.role ? before.permissions : undefined
}

function renderInvitationMail(
  { account, keyName }: Caller,
  { link }: { link: string },
  to: string,
): { to: string; subject: string; text: string } {
  const text = [
    `${keyName} invites you to the account ${account.name} in Posthorn.`,
    `To accept, follow this link within seven days:`,
    link,
    `The link works once and is only for you. If you did not expect this invitation, ignore this mail.`,
  ]
  return { to, subject: subjectOf(`Invitation to ${account.name}`), text: text.join('\n\n') }
}

/** As a send accepts it: in one line, of at most 255 characters. */
function subjectOf(text: string): string {
  return [...text.replace(/\p{Cc}+/gu, ' ')].slice(0, 255).join('')
}

export function viewInvitation(row: InvitationRow, nowMs: number): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role!,
    permissions: row.role === 'member' ? row.permissions : [...PERMISSIONS],
    status: row.acceptedAtMs !== null ? 'accepted' : row.expiresAtMs > nowMs ? 'pending' : 'expired',
    invitedBy: row.invitedBy,
    createdAt: toIso(timeOf(row.id)),
    expiresAt: toIso(row.expiresAtMs),
    acceptedAt: isoOrNull(row.acceptedAtMs),
  }
}

/** A key that stays valid although its maker was removed. */
export function viewRemainingKey({ id, accountId, name, mode, role }: KeyRow): MadeKey {
  return { id, accountId, name, mode, role }
}

function viewMember(row: MemberRow): Member {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    permissions: permissionsOfRole(row),
    totp: row.totp,
    lastSeenAt: isoOrNull(row.lastSeenAtMs),
    joinedAt: toIso(row.joinedAtMs),
  }
}

function readUserId(id: string): UserId {
  return isId('usr', id) ? id : throwUnknownMember()
}

function throwUnknownMember(): never {
  throw new Problem('NOT_FOUND', 'Member not found')
}

export function unknownInvitation(): Problem {
  return new Problem('NOT_FOUND', 'Invitation not found')
}

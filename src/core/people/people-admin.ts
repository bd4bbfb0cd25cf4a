import type { Actor } from '../../contract/actor.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type {
  AdminInvitation,
  AdminInvitationCreate,
  AdminInvitationMade,
  AdminInvitationRemoved,
  MemberRemoved,
  MembershipCreate,
  Person,
  PersonUpdate,
  ResetMade,
} from '../../contract/member.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Clock, isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, isId, timeOf } from '../../lib/ids.ts'
import { throwUnknownAccount } from '../accounts/admin.ts'
import { listKeysMadeBy } from '../accounts/key-store.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { permissionsOfRole } from '../accounts/rights.ts'
import { accountExists, lockAccount } from '../accounts/store.ts'
import { emailKey, readEmail } from './email.ts'
import {
  deleteInvitation,
  deleteInvitationsByEmail,
  deleteInvitationsByInviter,
  deleteInvitationsToAccount,
  type InvitationRow,
  listInvitations,
} from './invitation-store.ts'
import type { Invitations } from './invitations.ts'
import {
  type Members,
  permissionsOf,
  requireOtherOwner,
  unknownInvitation,
  viewInvitation,
  viewRemainingKey,
} from './members.ts'
import {
  insertMembership,
  isMemberByEmail,
  listPeople,
  type Membership,
  type PersonRow,
  selectMember,
  updateMembership,
} from './membership-store.ts'
import type { Sessions } from './sessions.ts'
import {
  countOtherOperators,
  deleteUser,
  lockPeople,
  selectUser,
  selectUserByEmail,
  setOperator,
  type UserId,
  type UserRow,
} from './user-store.ts'

/** People as the operator manages them. Refusals are Problems: NOT_FOUND, CONFLICT, VALIDATION_ERROR. */
export type PeopleAdmin = {
  /** The newest first; `q` is part of an address or a name. */
  list(query: PageQuery & { accountId?: string; q?: string }): Promise<Page<Person>>
  read(id: string): Promise<Person>
  /** Makes a person who has a login a member of an account, or changes the membership. */
  setMembership(input: MembershipCreate): Promise<Person>
  update(id: string, input: PersonUpdate): Promise<Person>
  /** Removes the whole login, or only its membership of one account. `left`: the accounts whose member it was. */
  remove(id: string, accountId?: string): Promise<{ removed: MemberRemoved; left: AccountId[] }>
  createResetLink(id: string, origin: string, by: Actor): Promise<ResetMade>
  listInvitations(query: PageQuery): Promise<Page<AdminInvitation>>
  invite(input: AdminInvitationCreate, origin: string, by: Actor): Promise<AdminInvitationMade>
  withdraw(id: string): Promise<AdminInvitationRemoved>
}

export type PeopleAdminDeps = {
  db: Database
  clock: Clock
  invitations: Invitations
  members: Pick<Members, 'removeIn'>
  sessions: Sessions
  publicUrl: string | null
}

export function createPeopleAdmin(deps: PeopleAdminDeps): PeopleAdmin {
  const { db, clock, invitations, sessions } = deps

  async function read(from: Db, id: string): Promise<Person> {
    if (!isId('usr', id)) return throwUnknownPerson()
    const [row] = await listPeople(from, { id, accountId: null, text: null }, null, 1)
    return row ? viewPerson(row) : throwUnknownPerson()
  }

  async function find(id: string): Promise<UserRow> {
    return (isId('usr', id) && (await selectUser(db, id))) || throwUnknownPerson()
  }

  async function readAccount(id: string): Promise<AccountId> {
    return isId('acc', id) && (await accountExists(db, id)) ? id : throwUnknownAccount()
  }

  async function join({ userId, accountId: id, role, permissions }: MembershipCreate): Promise<Person> {
    const user = await find(userId)
    const accountId = await readAccount(id)
    const membership = { accountId, userId: user.id, role, permissions: permissionsOf(role, permissions) }
    const person = await db.transaction(async tx => {
      await lockAccount(tx, accountId)
      if (!(await insertMembership(tx, membership, clock.now()))) await changeMembership(tx, membership)
      return read(tx, user.id)
    })
    sessions.forget(user.id)
    return person
  }

  async function changeMembership(tx: Db, membership: Membership): Promise<void> {
    const { accountId, userId, role } = membership
    const before = await selectMember(tx, accountId, userId)
    if (before && role !== 'owner') await requireOtherOwner(tx, accountId, before)
    await updateMembership(tx, membership)
    await deleteInvitationsByInviter(tx, userId)
  }

  async function update(id: string, { operator }: PersonUpdate): Promise<Person> {
    const user = await find(id)
    if (operator === undefined) return read(db, user.id)
    const person = await db.transaction(async tx => {
      await lockPeople(tx)
      if (!operator) {
        await requireOtherOperator(tx, user.id)
        await deleteInvitationsToAccount(tx, PLATFORM, user.id)
      }
      await setOperator(tx, user.id, operator)
      await deleteInvitationsByInviter(tx, user.id)
      return read(tx, user.id)
    })
    sessions.forget(user.id)
    return person
  }

  async function remove(id: string, given?: string) {
    const user = await find(id)
    const accountId = given === undefined ? null : await readAccount(given)
    const { left, keys } = await db.transaction(async tx => ({
      left: accountId === null ? await removeLogin(tx, user) : await leaveAccount(tx, user, accountId),
      // Not afterwards: if that failed, the removal would be told to nobody, and a repeat of it finds no one to remove.
      keys: await listKeysMadeBy(tx, user.id, accountId, clock.now()),
    }))
    sessions.forget(user.id)
    const removed: MemberRemoved = { id, deleted: true, apiKeys: keys.map(viewRemainingKey) }
    return { removed, left }
  }

  async function leaveAccount(tx: Db, { id }: UserRow, accountId: AccountId): Promise<AccountId[]> {
    await deps.members.removeIn(tx, accountId, id)
    return [accountId]
  }

  async function removeLogin(tx: Db, user: UserRow): Promise<AccountId[]> {
    await lockPeople(tx)
    await requireOtherOperator(tx, user.id)
    // The same order of locks as when an invitation is accepted.
    await deleteInvitationsByEmail(tx, emailKey(user.email))
    const left = await deleteUser(tx, user.id)
    await sessions.endAll(tx, user.id)
    await deleteInvitationsByInviter(tx, user.id)
    return left
  }

  async function reset(id: string, origin: string, inviter: Actor): Promise<ResetMade> {
    const { id: userId, email } = await find(id)
    const { invitation, link } = await invitations.create({
      kind: 'reset',
      accountId: PLATFORM,
      email,
      role: null,
      permissions: [],
      inviter,
      userId,
      origin: deps.publicUrl ?? origin,
    })
    return { link, expiresAt: toIso(invitation.expiresAtMs) }
  }

  async function invite(input: AdminInvitationCreate, origin: string, inviter: Actor) {
    const { role } = input
    if (role === 'operator' && input.accountId !== undefined) {
      throw invalid('accountId', 'must be absent for the role operator')
    }
    if (role !== 'operator' && input.accountId === undefined) throw invalid('accountId', 'is required')
    const accountId = role === 'operator' ? PLATFORM : await readAccount(input.accountId!)
    const email = readEmail(input.email)
    if (role === 'operator' && (await selectUserByEmail(db, emailKey(email)))?.operator) {
      throw new Problem('CONFLICT', 'This address is an operator already.')
    }
    if (await isMemberByEmail(db, accountId, emailKey(email))) {
      throw new Problem(
        'CONFLICT',
        'This address is a member already: change the role by POST /api/admin/members.',
      )
    }
    const { invitation, link } = await invitations.create({
      kind: 'invitation',
      accountId,
      email,
      role,
      permissions: role === 'operator' ? [] : permissionsOf(role, input.permissions),
      inviter,
      userId: null,
      origin: deps.publicUrl ?? origin,
    })
    return { invitation: viewForAdmin(invitation, clock.now()), link }
  }

  return {
    async list({ limit = DEFAULT_LIMIT, cursor, accountId, q }) {
      const before = readIdCursor('usr', cursor)
      const of = {
        id: null,
        accountId: accountId === undefined ? null : await readAccount(accountId),
        text: q ?? null,
      }
      const rows = await listPeople(db, of, before, limit + 1)
      return pageById(rows, limit, viewPerson)
    },
    read: id => read(db, id),
    setMembership: join,
    update,
    remove,
    createResetLink: reset,
    async listInvitations({ limit = DEFAULT_LIMIT, cursor }) {
      const rows = await listInvitations(db, null, readIdCursor('inv', cursor), limit + 1)
      return pageById(rows, limit, row => viewForAdmin(row, clock.now()))
    },
    invite,
    async withdraw(id) {
      const accountId = isId('inv', id) && (await deleteInvitation(db, null, id))
      if (!accountId) throw unknownInvitation()
      return { id, accountId: accountOf(accountId), deleted: true }
    },
  }
}

function viewPerson(row: PersonRow): Person {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    operator: row.operator,
    totp: row.totp,
    memberships: row.memberships.map(membership => ({
      accountId: fromUuid('acc', membership.accountUuid),
      accountName: membership.accountName,
      role: membership.role,
      permissions: permissionsOfRole(membership),
    })),
    lastSeenAt: isoOrNull(row.lastSeenAtMs),
    createdAt: toIso(timeOf(row.id)),
  }
}

function viewForAdmin(row: InvitationRow, nowMs: number): AdminInvitation {
  return {
    ...viewInvitation(row, nowMs),
    accountId: accountOf(row.accountId),
    accountName: row.accountName,
  }
}

/** Null for an operator's invitation. */
function accountOf(accountId: AccountId): AccountId | null {
  return accountId === PLATFORM ? null : accountId
}

function throwUnknownPerson(): never {
  throw new Problem('NOT_FOUND', 'Person not found')
}

/** Reads the person again under the lock: what was read before may have changed. */
async function requireOtherOperator(tx: Db, id: UserId): Promise<void> {
  if (!(await selectUser(tx, id))?.operator || (await countOtherOperators(tx, id)) > 0) return
  throw new Problem('CONFLICT', 'At least one operator is needed: make another person an operator first.')
}

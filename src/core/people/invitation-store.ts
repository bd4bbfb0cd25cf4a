import type { Actor } from '../../contract/actor.ts'
import type { KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { UserId } from './user-store.ts'

export type InvitationId = Id<'inv'>

/** A link that invites a person or resets a password; times in ms since the epoch. */
export type InvitationRow = {
  id: InvitationId
  /** `PLATFORM` for an invitation of an operator, and for a reset. */
  accountId: AccountId
  accountName: string | null
  kind: 'invitation' | 'reset'
  email: string
  role: KeyRole | 'operator' | null
  permissions: Permission[]
  invitedBy: string
  /** The person whose password a reset sets; null for an invitation. */
  userId: UserId | null
  expiresAtMs: number
  acceptedAtMs: number | null
}

type Stored = Omit<InvitationRow, 'id' | 'accountId' | 'userId'> & {
  uuid: string
  accountUuid: string
  userUuid: string | null
}

const COLUMNS = `i.id as uuid, i.account_id as "accountUuid",
  (select a.name from accounts a where a.id = i.account_id) as "accountName",
  i.kind, i.email, i.role, i.permissions, i.invited_by as "invitedBy", i.user_id as "userUuid",
  floor(extract(epoch from i.expires_at) * 1000)::bigint as "expiresAtMs",
  floor(extract(epoch from i.accepted_at) * 1000)::bigint as "acceptedAtMs"`

/**
 * Whether the actor may still invite: an operator, an owner of the account, or an owner's key of it. Locks the
 * actor's row until the transaction ends: a concurrent removal of the actor either comes first, or finds and deletes the invitation.
 */
export async function lockInviter(db: Db, accountId: AccountId, { type, id }: Actor): Promise<boolean> {
  if (id === null) return true
  const values = [toUuid(accountId), toUuid(id)]
  if (type === 'api_key') {
    const { rows } = await db.query({
      name: 'inviting_key',
      text: `select 1 from api_keys
        where account_id = $1 and id = $2 and role = 'owner' and revoked_at is null for share`,
      values,
    })
    return rows.length > 0
  }
  const user = await db.query<{ operator: boolean }>({
    name: 'inviting_user',
    text: 'select operator from users where id = $1 for share',
    values: [toUuid(id)],
  })
  if (!user.rows[0] || user.rows[0].operator) return user.rows.length > 0
  const owner = await db.query({
    name: 'inviting_owner',
    text: `select 1 from memberships where account_id = $1 and user_id = $2 and role = 'owner' for share`,
    values,
  })
  return owner.rows.length > 0
}

/** Stores an invitation; replaces an open one of the same kind, account and address. */
export async function upsertInvitation(
  db: Db,
  invitation: Omit<InvitationRow, 'accountName' | 'acceptedAtMs' | 'invitedBy'> & {
    emailKey: string
    inviter: Actor
  },
  tokenHash: Buffer,
): Promise<void> {
  await db.query({
    name: 'invitation_insert',
    text: `insert into invitations (account_id, id, kind, email, email_key, role, permissions, token_hash, invited_by,
                                   expires_at, inviter_id, user_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      on conflict (account_id, email_key, kind) where accepted_at is null do update
        set id = excluded.id, email = excluded.email, role = excluded.role, permissions = excluded.permissions,
            token_hash = excluded.token_hash, invited_by = excluded.invited_by, expires_at = excluded.expires_at,
            inviter_id = excluded.inviter_id, user_id = excluded.user_id`,
    values: [
      toUuid(invitation.accountId),
      toUuid(invitation.id),
      invitation.kind,
      invitation.email,
      invitation.emailKey,
      invitation.role,
      invitation.permissions,
      tokenHash,
      invitation.inviter.name,
      toIso(invitation.expiresAtMs),
      invitation.inviter.id && toUuid(invitation.inviter.id),
      invitation.userId && toUuid(invitation.userId),
    ],
  })
}

/** The invitation, if it is still valid. */
export async function selectOpenInvitation(
  db: Db,
  tokenHash: Buffer,
  nowMs: number,
): Promise<InvitationRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'invitation_by_token',
    text: `select ${COLUMNS} from invitations i
      where i.token_hash = $1 and i.accepted_at is null and i.expires_at > $2`,
    values: [tokenHash, toIso(nowMs)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Marks it as used; false when it was used, deleted or has expired meanwhile. */
export async function markInvitationAccepted(db: Db, row: InvitationRow, nowMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invitation_use',
    text: `update invitations set accepted_at = $3
      where account_id = $1 and id = $2 and accepted_at is null and expires_at > $3`,
    values: [toUuid(row.accountId), toUuid(row.id), toIso(nowMs)],
  })
  return rowCount === 1
}

/** The invitations of one account, or of all, the newest first; without resets. */
export async function listInvitations(
  db: Db,
  accountId: AccountId | null,
  before: InvitationId | null,
  limit: number,
): Promise<InvitationRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'invitations_list',
    text: `select ${COLUMNS} from invitations i
      where i.kind = 'invitation' and ($1::uuid is null or i.account_id = $1) and ($2::uuid is null or i.id < $2)
      order by i.id desc limit $3`,
    values: [accountId && toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

/** Deletes an open invitation of one account, or of any; returns its account, null when there is none. */
export async function deleteInvitation(
  db: Db,
  accountId: AccountId | null,
  id: InvitationId,
): Promise<AccountId | null> {
  const { rows } = await db.query<{ accountUuid: string }>({
    name: 'invitation_delete',
    text: `delete from invitations
      where ($1::uuid is null or account_id = $1) and id = $2 and kind = 'invitation' and accepted_at is null
      returning account_id as "accountUuid"`,
    values: [accountId && toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? fromUuid('acc', rows[0].accountUuid) : null
}

/** Deletes the open invitations of a person to an account, or to the platform, that they were removed from. */
export async function deleteInvitationsToAccount(
  db: Db,
  accountId: AccountId,
  userId: UserId,
): Promise<void> {
  await db.query({
    name: 'invitations_delete_of',
    text: `delete from invitations i using users u
      where i.account_id = $1 and i.kind = 'invitation' and i.accepted_at is null
        and u.id = $2 and i.email_key = u.email_key`,
    values: [toUuid(accountId), toUuid(userId)],
  })
}

/**
 * Deletes the invitations that a person made and may no longer make, after they lost the operator's or an owner's
 * role. Call it after that change in the same transaction: see `lockInviter`.
 */
export async function deleteInvitationsByInviter(db: Db, userId: UserId): Promise<void> {
  await db.query({
    name: 'invitations_delete_by',
    text: `delete from invitations i
      where i.inviter_id = $1 and i.accepted_at is null
        and not exists (select 1 from users u where u.id = $1 and u.operator)
        and not exists (select 1 from memberships m
                         where m.account_id = i.account_id and m.user_id = $1 and m.role = 'owner')`,
    values: [toUuid(userId)],
  })
}

/** Deletes a person's open resets, once their password was changed. */
export async function deleteResetsForUser(db: Db, userId: UserId): Promise<void> {
  await db.query({
    name: 'resets_delete_of',
    text: `delete from invitations i using users u
      where i.account_id = $1 and i.kind = 'reset' and i.accepted_at is null
        and u.id = $2 and i.email_key = u.email_key`,
    values: [toUuid(PLATFORM), toUuid(userId)],
  })
}

/** Deletes the open invitations for an address, whose login was removed. */
export async function deleteInvitationsByEmail(db: Db, emailKey: string): Promise<void> {
  await db.query({
    name: 'invitations_delete_for',
    text: 'delete from invitations where email_key = $1 and accepted_at is null',
    values: [emailKey],
  })
}

/** Deletes expired invitations that were not accepted; returns how many. */
export async function sweepInvitations(db: Db, expiredBeforeMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'invitations_sweep',
    text: 'delete from invitations where accepted_at is null and expires_at < $1',
    values: [toIso(expiredBeforeMs)],
  })
  return rowCount ?? 0
}

function toRow({ uuid, accountUuid, userUuid, ...rest }: Stored): InvitationRow {
  return {
    id: fromUuid('inv', uuid),
    accountId: fromUuid('acc', accountUuid),
    userId: userUuid === null ? null : fromUuid('usr', userUuid),
    ...rest,
  }
}

import type { KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import type { UserId } from './user-store.ts'

export type InvitationId = Id<'inv'>

/** A link that lets somebody in; times in ms since the epoch. */
export type InvitationRow = {
  id: InvitationId
  /** Or `PLATFORM`: an operator's, or a reset. */
  accountId: AccountId
  accountName: string | null
  kind: 'invitation' | 'reset'
  email: string
  role: KeyRole | 'operator' | null
  permissions: Permission[]
  invitedBy: string
  expiresAtMs: number
  acceptedAtMs: number | null
}

type Stored = Omit<InvitationRow, 'id' | 'accountId'> & { uuid: string; accountUuid: string }

const COLUMNS = `i.id as uuid, i.account_id as "accountUuid",
  (select a.name from accounts a where a.id = i.account_id) as "accountName",
  i.kind, i.email, i.role, i.permissions, i.invited_by as "invitedBy",
  floor(extract(epoch from i.expires_at) * 1000)::bigint as "expiresAtMs",
  floor(extract(epoch from i.accepted_at) * 1000)::bigint as "acceptedAtMs"`

/** Takes the place of one of the same kind, account and address that nobody has accepted. */
export async function putInvitation(
  db: Db,
  invitation: Omit<InvitationRow, 'accountName' | 'acceptedAtMs'> & { emailKey: string },
  tokenHash: Buffer,
): Promise<void> {
  await db.query({
    name: 'invitation_supersede',
    text: `delete from invitations
      where account_id = $1 and email_key = $2 and kind = $3 and accepted_at is null`,
    values: [toUuid(invitation.accountId), invitation.emailKey, invitation.kind],
  })
  await db.query({
    name: 'invitation_insert',
    text: `insert into invitations (account_id, id, kind, email, email_key, role, permissions, token_hash, invited_by, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      toUuid(invitation.accountId),
      toUuid(invitation.id),
      invitation.kind,
      invitation.email,
      invitation.emailKey,
      invitation.role,
      invitation.permissions,
      tokenHash,
      invitation.invitedBy,
      toIso(invitation.expiresAtMs),
    ],
  })
}

/** One that still works. */
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

/** Uses it up; false when it was used, taken back or late meanwhile. */
export async function spendInvitation(db: Db, row: InvitationRow, nowMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invitation_use',
    text: `update invitations set accepted_at = $3
      where account_id = $1 and id = $2 and accepted_at is null and expires_at > $3`,
    values: [toUuid(row.accountId), toUuid(row.id), toIso(nowMs)],
  })
  return rowCount === 1
}

/** Of one account, or of all; the newest first, without resets. */
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

/** Of one account, or of any; false when there is none that nobody has accepted. */
export async function deleteInvitation(
  db: Db,
  accountId: AccountId | null,
  id: InvitationId,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invitation_delete',
    text: `delete from invitations
      where ($1::uuid is null or account_id = $1) and id = $2 and kind = 'invitation' and accepted_at is null`,
    values: [accountId && toUuid(accountId), toUuid(id)],
  })
  return rowCount === 1
}

/** Those to this account, or to the platform, for somebody who was removed there: they would come back by one. */
export async function deleteInvitationsOf(db: Db, accountId: AccountId, userId: UserId): Promise<void> {
  await db.query({
    name: 'invitations_delete_of',
    text: `delete from invitations i using users u
      where i.account_id = $1 and i.kind = 'invitation' and i.accepted_at is null
        and u.id = $2 and i.email_key = u.email_key`,
    values: [toUuid(accountId), toUuid(userId)],
  })
}

/** Links for this address that nobody has followed: a login that is removed does not come back by one of them. */
export async function deleteInvitationsFor(db: Db, emailKey: string): Promise<void> {
  await db.query({
    name: 'invitations_delete_for',
    text: 'delete from invitations where email_key = $1 and accepted_at is null',
    values: [emailKey],
  })
}

/** Links that work no more, but for what was accepted; how many. */
export async function sweepInvitations(db: Db, expiredBeforeMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'invitations_sweep',
    text: 'delete from invitations where accepted_at is null and expires_at < $1',
    values: [toIso(expiredBeforeMs)],
  })
  return rowCount ?? 0
}

function toRow({ uuid, accountUuid, ...rest }: Stored): InvitationRow {
  return { id: fromUuid('inv', uuid), accountId: fromUuid('acc', accountUuid), ...rest }
}

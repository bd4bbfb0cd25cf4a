import type { KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'
import type { UserId } from './user-store.ts'

export type Membership = { accountId: AccountId; userId: UserId; role: KeyRole; permissions: Permission[] }

/** A member of an account; times in ms since the epoch. */
export type MemberRow = {
  id: UserId
  email: string
  name: string
  role: KeyRole
  permissions: Permission[]
  totp: boolean
  lastSeenAtMs: number | null
  joinedAtMs: number
}

const MEMBER = `u.id as uuid, u.email, u.name, m.role, m.permissions, u.totp_secret is not null as totp,
  floor(extract(epoch from m.joined_at) * 1000)::bigint as "joinedAtMs",
  (select floor(extract(epoch from max(s.last_seen_at)) * 1000)::bigint from console_sessions s
    where s.user_id = u.id) as "lastSeenAtMs"`

type StoredMember = Omit<MemberRow, 'id'> & { uuid: string }

/** False when they are a member already, which changes nothing, or when the login no longer exists. */
export async function insertMembership(db: Db, membership: Membership, nowMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'membership_insert',
    text: `insert into memberships (account_id, user_id, role, permissions, joined_at)
      select $1::uuid, u.id, $3::text, $4::text[], $5::timestamptz from users u where u.id = $2 for key share
      on conflict (account_id, user_id) do nothing`,
    values: [
      toUuid(membership.accountId),
      toUuid(membership.userId),
      membership.role,
      membership.permissions,
      toIso(nowMs),
    ],
  })
  return rowCount === 1
}

/** False when there is no such membership. */
export async function updateMembership(db: Db, membership: Membership): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'membership_update',
    text: 'update memberships set role = $3, permissions = $4 where account_id = $1 and user_id = $2',
    values: [
      toUuid(membership.accountId),
      toUuid(membership.userId),
      membership.role,
      membership.permissions,
    ],
  })
  return rowCount === 1
}

/** False when there is no such membership. */
export async function deleteMembership(db: Db, accountId: AccountId, userId: UserId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'membership_delete',
    text: 'delete from memberships where account_id = $1 and user_id = $2',
    values: [toUuid(accountId), toUuid(userId)],
  })
  return rowCount === 1
}

export async function countOtherOwners(db: Db, accountId: AccountId, userId: UserId): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'membership_other_owners',
    text: `select count(*)::integer as n from memberships
      where account_id = $1 and user_id <> $2 and role = 'owner'`,
    values: [toUuid(accountId), toUuid(userId)],
  })
  return rows[0]!.n
}

export async function selectMember(db: Db, accountId: AccountId, id: UserId): Promise<MemberRow | null> {
  const { rows } = await db.query<StoredMember>({
    name: 'member_by_id',
    text: `select ${MEMBER} from memberships m join users u on u.id = m.user_id
      where m.account_id = $1 and m.user_id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toMember(rows[0]) : null
}

/** Whether a person with this address is a member of the account. */
export async function isMemberByEmail(db: Db, accountId: AccountId, emailKey: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'member_by_email',
    text: `select 1 from memberships m join users u on u.id = m.user_id
      where m.account_id = $1 and u.email_key = $2`,
    values: [toUuid(accountId), emailKey],
  })
  return rows.length > 0
}

/** The newest login first; `before` is the last id of the page before. */
export async function listMembers(
  db: Db,
  accountId: AccountId,
  before: UserId | null,
  limit: number,
): Promise<MemberRow[]> {
  const { rows } = await db.query<StoredMember>({
    name: 'members_list',
    text: `select ${MEMBER} from memberships m join users u on u.id = m.user_id
      where m.account_id = $1 and ($2::uuid is null or m.user_id < $2) order by m.user_id desc limit $3`,
    values: [toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toMember)
}

/** An account that a person is a member of. */
export type AccountOfUser = {
  id: AccountId
  name: string
  status: 'active' | 'suspended'
  homeCountry: string
  currency: string
  role: KeyRole
  permissions: Permission[]
}

export async function listAccountsOf(db: Db, userId: UserId): Promise<AccountOfUser[]> {
  const { rows } = await db.query<Omit<AccountOfUser, 'id'> & { uuid: string }>({
    name: 'accounts_of_user',
    text: `select a.id as uuid, a.name, a.status, a.home_country as "homeCountry", a.currency, m.role, m.permissions
      from memberships m join accounts a on a.id = m.account_id where m.user_id = $1 order by a.name, a.id`,
    values: [toUuid(userId)],
  })
  return rows.map(({ uuid, ...rest }) => ({ id: fromUuid('acc', uuid), ...rest }))
}

/** The only account of the store, as after the first start; null where there are more. */
export async function selectOnlyAccount(db: Db): Promise<AccountId | null> {
  const { rows } = await db.query<{ id: string }>({
    name: 'account_only',
    text: 'select id from accounts order by id limit 2',
  })
  return rows.length === 1 ? fromUuid('acc', rows[0]!.id) : null
}

/** A person as the operator sees them. */
export type PersonRow = {
  id: UserId
  email: string
  name: string
  operator: boolean
  totp: boolean
  lastSeenAtMs: number | null
  memberships: { accountUuid: string; accountName: string; role: KeyRole; permissions: Permission[] }[]
}

/** The people who match, the newest first. */
export async function listPeople(
  db: Db,
  of: { id: UserId | null; accountId: AccountId | null; text: string | null },
  before: UserId | null,
  limit: number,
): Promise<PersonRow[]> {
  const { rows } = await db.query<Omit<PersonRow, 'id'> & { uuid: string }>({
    name: 'people_list',
    text: `select u.id as uuid, u.email, u.name, u.operator, u.totp_secret is not null as totp,
        (select floor(extract(epoch from max(s.last_seen_at)) * 1000)::bigint from console_sessions s
          where s.user_id = u.id) as "lastSeenAtMs",
        coalesce((select json_agg(json_build_object('accountUuid', a.id, 'accountName', a.name, 'role', m.role,
                                                    'permissions', m.permissions) order by a.name, a.id)
                    from memberships m join accounts a on a.id = m.account_id where m.user_id = u.id), '[]') as memberships
      from users u
      where ($1::uuid is null or u.id = $1)
        and ($2::uuid is null or exists (select 1 from memberships m where m.account_id = $2 and m.user_id = u.id))
        and ($3::text is null or strpos(u.email_key, lower($3)) > 0 or strpos(lower(u.name), lower($3)) > 0)
        and ($4::uuid is null or u.id < $4)
      order by u.id desc limit $5`,
    values: [
      of.id && toUuid(of.id),
      of.accountId && toUuid(of.accountId),
      of.text,
      before && toUuid(before),
      limit,
    ],
  })
  return rows.map(({ uuid, ...rest }) => ({ id: fromUuid('usr', uuid), ...rest }))
}

function toMember({ uuid, ...rest }: StoredMember): MemberRow {
  return { id: fromUuid('usr', uuid), ...rest }
}

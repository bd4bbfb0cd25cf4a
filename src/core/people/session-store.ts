import type { KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import type { UserId, UserRow } from './user-store.ts'

export type SessionId = Id<'ses'>

/** A console session; times in ms since the epoch. */
export type SessionRow = {
  id: SessionId
  userId: UserId
  createdAtMs: number
  lastSeenAtMs: number
  ip: string | null
  userAgent: string | null
}

/** A session with its person and their memberships. */
export type SessionWithUser = SessionRow & {
  email: string
  name: string
  operator: boolean
  memberships: { accountId: AccountId; role: KeyRole; permissions: Permission[] }[]
}

const COLUMNS = `s.id as uuid, s.user_id as "userUuid", s.ip, s.user_agent as "userAgent",
  floor(extract(epoch from s.created_at) * 1000)::bigint as "createdAtMs",
  floor(extract(epoch from s.last_seen_at) * 1000)::bigint as "lastSeenAtMs"`

type Stored = Omit<SessionRow, 'id' | 'userId'> & { uuid: string; userUuid: string }

/**
 * False when the login has changed since it was proved. Locks the login's row: a concurrent change of the password or
 * second factor either comes first, or finds this session and ends it.
 */
export async function insertSession(
  db: Db,
  session: SessionRow,
  tokenHash: Buffer,
  { password, totpSecret }: Pick<UserRow, 'password' | 'totpSecret'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'session_insert',
    text: `insert into console_sessions (id, user_id, token_hash, created_at, last_seen_at, ip, user_agent)
      select $1::uuid, u.id, $3::bytea, $4::timestamptz, $5::timestamptz, $6::text, $7::text from users u
       where u.id = $2 and u.password = $8 and u.totp_secret is not distinct from $9 for share`,
    values: [
      toUuid(session.id),
      toUuid(session.userId),
      tokenHash,
      toIso(session.createdAtMs),
      toIso(session.lastSeenAtMs),
      session.ip,
      session.userAgent,
      password,
      totpSecret,
    ],
  })
  return rowCount === 1
}

/** `tokenHash`: SHA-256 in hex. */
export async function selectSession(db: Db, tokenHash: string): Promise<SessionWithUser | null> {
  const { rows } = await db.query<
    Stored & {
      email: string
      name: string
      operator: boolean
      memberships: { account: string; role: KeyRole; permissions: Permission[] }[]
    }
  >({
    name: 'session_by_token',
    text: `select ${COLUMNS}, u.email, u.name, u.operator, coalesce((
          select json_agg(json_build_object('account', m.account_id, 'role', m.role, 'permissions', m.permissions)
                          order by m.account_id)
            from memberships m where m.user_id = u.id), '[]') as memberships
        from console_sessions s join users u on u.id = s.user_id
       where s.token_hash = decode($1, 'hex')`,
    values: [tokenHash],
  })
  const row = rows[0]
  if (!row) return null
  const { email, name, operator, memberships, ...session } = row
  return {
    ...toRow(session),
    email,
    name,
    operator,
    memberships: memberships.map(({ account, ...rest }) => ({
      accountId: fromUuid('acc', account),
      ...rest,
    })),
  }
}

/** The last used first; limited to more than anybody would end one by one. */
export async function listSessions(db: Db, userId: UserId): Promise<SessionRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'sessions_of_user',
    text: `select ${COLUMNS} from console_sessions s where s.user_id = $1 order by s.last_seen_at desc, s.id desc
      limit 200`,
    values: [toUuid(userId)],
  })
  return rows.map(toRow)
}

/** False when the person has no such session. */
export async function deleteSession(db: Db, userId: UserId, id: SessionId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'session_delete',
    text: 'delete from console_sessions where user_id = $1 and id = $2',
    values: [toUuid(userId), toUuid(id)],
  })
  return rowCount === 1
}

export async function deleteSessionsOf(db: Db, userId: UserId): Promise<void> {
  await db.query({
    name: 'sessions_delete_all',
    // Locks in the order of ids, as `updateLastSeen` does.
    text: `delete from console_sessions where id = any (array(
        select s.id from console_sessions s where s.user_id = $1 order by s.id for update))`,
    values: [toUuid(userId)],
  })
}

/** Never sets a time back. Locks in the order of ids, so that two nodes do not deadlock. */
export async function updateLastSeen(
  db: Db,
  seen: readonly { id: SessionId; atMs: number }[],
): Promise<void> {
  await db.query({
    name: 'sessions_seen',
    text: `with seen as (
        select s.id, i.at from unnest($1::uuid[], $2::timestamptz[]) as i (id, at)
          join console_sessions s on s.id = i.id
         where s.last_seen_at < i.at order by s.id for no key update of s
      )
      update console_sessions s set last_seen_at = seen.at from seen where s.id = seen.id`,
    values: [uuidArray(seen, ({ id }) => id), timeArray(seen, ({ atMs }) => atMs)],
  })
}

/** Deletes expired sessions; returns how many. */
export async function sweepSessions(db: Db, seenBeforeMs: number, madeBeforeMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sessions_sweep',
    text: 'delete from console_sessions where last_seen_at < $1 or created_at < $2',
    values: [toIso(seenBeforeMs), toIso(madeBeforeMs)],
  })
  return rowCount ?? 0
}

function toRow({ uuid, userUuid, ...rest }: Stored): SessionRow {
  return { id: fromUuid('ses', uuid), userId: fromUuid('usr', userUuid), ...rest }
}

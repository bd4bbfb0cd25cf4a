import type { Db } from '../../infra/db.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'

export type UserId = Id<'usr'>

/** A person who has a login. */
export type UserRow = {
  id: UserId
  email: string
  name: string
  /** Argon2id hash, in PHC string format. */
  password: string
  operator: boolean
  /** Sealed. */
  totpSecret: Buffer | null
  totpPending: Buffer | null
  recoveryCodesLeft: number
}

type Stored = Omit<UserRow, 'id'> & { uuid: string }

const COLUMNS = `id as uuid, email, name, password, operator, totp_secret as "totpSecret",
  totp_pending as "totpPending", cardinality(recovery_codes) as "recoveryCodesLeft"`

export async function selectUserByEmail(db: Db, emailKey: string): Promise<UserRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'user_by_email',
    text: `select ${COLUMNS} from users where email_key = $1`,
    values: [emailKey],
  })
  return rows[0] ? toRow(rows[0]) : null
}

export async function selectUser(db: Db, id: UserId): Promise<UserRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'user_by_id',
    text: `select ${COLUMNS} from users where id = $1`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

export async function hasUsers(db: Db): Promise<boolean> {
  const { rows } = await db.query({ name: 'users_any', text: 'select 1 from users limit 1' })
  return rows.length > 0
}

/** False when the address has a login already. */
export async function insertUser(
  db: Db,
  user: { id: UserId; email: string; emailKey: string; name: string; password: string; operator: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_insert',
    text: `insert into users (id, email, email_key, name, password, operator)
      values ($1, $2, $3, $4, $5, $6) on conflict (email_key) do nothing`,
    values: [toUuid(user.id), user.email, user.emailKey, user.name, user.password, user.operator],
  })
  return rowCount === 1
}

export async function renameUser(db: Db, id: UserId, name: string): Promise<void> {
  await db.query({
    name: 'user_rename',
    text: 'update users set name = $2 where id = $1',
    values: [toUuid(id), name],
  })
}

/** `password` is the Argon2id hash. */
export async function setPassword(db: Db, id: UserId, password: string): Promise<void> {
  await db.query({
    name: 'user_password',
    text: 'update users set password = $2 where id = $1',
    values: [toUuid(id), password],
  })
}

/** Sets the password if it is still `from`; false when it was changed meanwhile. */
export async function replacePassword(db: Db, id: UserId, from: string, to: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_password_replace',
    text: 'update users set password = $3 where id = $1 and password = $2',
    values: [toUuid(id), from, to],
  })
  return rowCount === 1
}

/** False when there is no such person. */
export async function setOperator(db: Db, id: UserId, operator: boolean): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_operator',
    text: 'update users set operator = $2 where id = $1',
    values: [toUuid(id), operator],
  })
  return rowCount === 1
}

export async function countOtherOperators(db: Db, id: UserId): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'users_other_operators',
    text: 'select count(*)::integer as n from users where operator and id <> $1',
    values: [toUuid(id)],
  })
  return rows[0]!.n
}

/**
 * Deletes the login with its memberships, and returns the accounts whose member it was. Its row first: a transaction that
 * adds a membership or a session has locked it, and either is found here or fails. The caller ends its sessions, after this.
 */
export async function deleteUser(db: Db, id: UserId): Promise<AccountId[]> {
  const values = [toUuid(id)]
  await db.query({ name: 'user_delete', text: 'delete from users where id = $1', values })
  const { rows } = await db.query<{ uuid: string }>({
    name: 'user_memberships_delete',
    text: 'delete from memberships where user_id = $1 returning account_id as uuid',
    values,
  })
  return rows.map(({ uuid }) => fromUuid('acc', uuid))
}

/** Stores the sealed secret of a second factor that is not confirmed yet, in place of an earlier one. */
export async function setPendingTotp(db: Db, id: UserId, sealed: Buffer): Promise<void> {
  await db.query({
    name: 'user_totp_pending',
    text: 'update users set totp_pending = $2 where id = $1',
    values: [toUuid(id), sealed],
  })
}

/** Puts the pending secret into use; false when it was replaced meanwhile. */
export async function confirmPendingTotp(
  db: Db,
  id: UserId,
  pending: Buffer,
  step: number,
  recoveryCodes: readonly Buffer[],
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_totp_confirm',
    text: `update users set totp_secret = totp_pending, totp_pending = null, totp_step = $3, recovery_codes = $4
      where id = $1 and totp_pending = $2 and totp_secret is null`,
    values: [toUuid(id), pending, step, recoveryCodes],
  })
  return rowCount === 1
}

/** Turns the second factor off; its recovery codes go with it. */
export async function clearTotp(db: Db, id: UserId): Promise<void> {
  await db.query({
    name: 'user_totp_clear',
    text: `update users set totp_secret = null, totp_pending = null, recovery_codes = '{}' where id = $1`,
    values: [toUuid(id)],
  })
}

/** `clearTotp` if the password is still this one; false when it was changed meanwhile. `password` is the Argon2id hash. */
export async function clearTotpBy(db: Db, id: UserId, password: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_totp_clear_by',
    text: `update users set totp_secret = null, totp_pending = null, recovery_codes = '{}'
      where id = $1 and password = $2`,
    values: [toUuid(id), password],
  })
  return rowCount === 1
}

/** Marks the code of this step as used; false when it, or the code of a later step, was used before. */
export async function consumeTotpStep(db: Db, id: UserId, step: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_totp_use',
    text: 'update users set totp_step = $2 where id = $1 and totp_step < $2',
    values: [toUuid(id), step],
  })
  return rowCount === 1
}

/** Marks a recovery code as used; false when it is not the person's, or was used before. */
export async function consumeRecoveryCode(db: Db, id: UserId, code: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'user_recovery_use',
    text: `update users set recovery_codes = array_remove(recovery_codes, $2)
      where id = $1 and $2 = any (recovery_codes)`,
    values: [toUuid(id), code],
  })
  return rowCount === 1
}

/** The key of an advisory lock (any constant), for changes that depend on how many operators or logins there are. */
const PEOPLE_LOCK = 7_068_102

/** Takes the lock until the transaction ends. */
export async function lockPeople(db: Db): Promise<void> {
  await db.query({ name: 'people_lock', text: 'select pg_advisory_xact_lock($1)', values: [PEOPLE_LOCK] })
}

function toRow({ uuid, ...rest }: Stored): UserRow {
  return { id: fromUuid('usr', uuid), ...rest }
}

import type { Actor } from '../../contract/actor.ts'
import type { KeyMode, KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { timeArray, uuidArray } from '../../infra/pg-array.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'

export type KeyId = Id<'key'>

/** The most keys in an answer that has no pages. */
const MAX_LISTED_KEYS = 500

/** A stored key, without the key itself. Times in ms since the epoch. */
export type KeyRow = {
  id: KeyId
  accountId: AccountId
  name: string
  prefix: string
  mode: KeyMode
  role: KeyRole
  permissions: Permission[]
  expiresAtMs: number | null
  revokedAtMs: number | null
  /** When a rotation replaced it by another key. */
  replacedAtMs: number | null
  lastUsedAtMs: number | null
  /** Null for a key that was created with its account, or before makers were recorded. */
  madeBy: Actor | null
}

type Stored = Omit<KeyRow, 'id' | 'accountId' | 'madeBy'> & {
  uuid: string
  accountUuid: string
  makerType: Actor['type'] | null
  makerUuid: string | null
  makerName: string | null
}

const COLUMNS = `id as uuid, account_id as "accountUuid", name, prefix, mode, role, permissions,
  made_by_type as "makerType", made_by_id as "makerUuid", made_by_name as "makerName",
  (extract(epoch from expires_at) * 1000)::bigint as "expiresAtMs",
  (extract(epoch from revoked_at) * 1000)::bigint as "revokedAtMs",
  (extract(epoch from replaced_at) * 1000)::bigint as "replacedAtMs",
  (extract(epoch from last_used_at) * 1000)::bigint as "lastUsedAtMs"`

/** `hash` is SHA-256 in hex. */
export async function insertKey(db: Db, key: KeyRow, hash: string): Promise<void> {
  await db.query({
    name: 'key_insert',
    text: `insert into api_keys (account_id, id, name, prefix, hash, mode, role, permissions, expires_at,
                                made_by_type, made_by_id, made_by_name)
      values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, to_timestamp($9 / 1000.0), $10, $11, $12)`,
    values: [
      toUuid(key.accountId),
      toUuid(key.id),
      key.name,
      key.prefix,
      hash,
      key.mode,
      key.role,
      key.permissions,
      key.expiresAtMs,
      key.madeBy?.type ?? null,
      key.madeBy?.id ? toUuid(key.madeBy.id) : null,
      key.madeBy?.name ?? null,
    ],
  })
}

export async function selectKeyByHash(db: Db, hash: string): Promise<KeyRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'key_by_hash',
    text: `select ${COLUMNS} from api_keys where hash = decode($1, 'hex') and revoked_at is null`,
    values: [hash],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The newest keys first, at most `MAX_LISTED_KEYS`; `pageKeys` reads them all. */
export async function listKeys(db: Db, accountId: AccountId): Promise<KeyRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'keys_of_account',
    text: `select ${COLUMNS} from api_keys where account_id = $1 order by id desc limit ${MAX_LISTED_KEYS}`,
    values: [toUuid(accountId)],
  })
  return rows.map(toRow)
}

/** Counts the keys that are neither revoked nor expired at that time. */
export async function countKeys(db: Db, accountId: AccountId, atMs: number): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'keys_count',
    text: `select count(*)::integer as n from api_keys
      where account_id = $1 and revoked_at is null
        and (expires_at is null or expires_at > to_timestamp($2::bigint / 1000.0))`,
    values: [toUuid(accountId), atMs],
  })
  return rows[0]!.n
}

/** A page of keys, the newest first; with `activeAtMs` only those that are neither revoked nor expired at that time. */
export async function pageKeys(
  db: Db,
  accountId: AccountId,
  of: { activeAtMs: number | null; before: KeyId | null },
  limit: number,
): Promise<KeyRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'keys_page',
    text: `select ${COLUMNS} from api_keys
      where account_id = $1 and ($2::uuid is null or id < $2)
        and ($3::bigint is null or (revoked_at is null
             and (expires_at is null or expires_at > to_timestamp($3::bigint / 1000.0))))
      order by id desc limit $4`,
    values: [toUuid(accountId), of.before && toUuid(of.before), of.activeAtMs, limit],
  })
  return rows.map(toRow)
}

export async function selectKey(db: Db, accountId: AccountId, id: KeyId): Promise<KeyRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'key_by_id',
    text: `select ${COLUMNS} from api_keys where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The same, and holds off other changes of the key until the transaction ends. */
export async function selectKeyForUpdate(tx: Db, accountId: AccountId, id: KeyId): Promise<KeyRow | null> {
  const { rows } = await tx.query<Stored>({
    name: 'key_lock',
    text: `select ${COLUMNS} from api_keys where account_id = $1 and id = $2 for no key update`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Marks the key as replaced, and sets when it expires. */
export async function replaceKey(
  db: Db,
  accountId: AccountId,
  id: KeyId,
  { replacedAtMs, expiresAtMs }: { replacedAtMs: number; expiresAtMs: number },
): Promise<void> {
  await db.query({
    name: 'key_replace',
    text: `update api_keys set replaced_at = to_timestamp($3 / 1000.0), expires_at = to_timestamp($4 / 1000.0)
      where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id), replacedAtMs, expiresAtMs],
  })
}

/**
 * The valid keys that a user made, the newest first, including keys that were made with those keys.
 * Of one account, or of all if `accountId` is null; at most `MAX_LISTED_KEYS`.
 */
export async function listKeysMadeBy(
  db: Db,
  makerId: Id<'usr'>,
  accountId: AccountId | null,
  nowMs: number,
): Promise<KeyRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'keys_made_by',
    text: `with recursive made as (
        select k.id from api_keys k where k.made_by_id = $1
        union select k.id from made join api_keys k on k.made_by_id = made.id
      )
      select ${COLUMNS} from api_keys
       where id in (select made.id from made) and ($2::uuid is null or account_id = $2)
         and revoked_at is null and (expires_at is null or expires_at > to_timestamp($3 / 1000.0))
       order by id desc limit ${MAX_LISTED_KEYS}`,
    values: [toUuid(makerId), accountId && toUuid(accountId), nowMs],
  })
  return rows.map(toRow)
}

/**
 * Revokes a key, and deletes its open invitations; needs a transaction. A key that is revoked already keeps its time.
 * Null if the account has no such key.
 */
export async function revokeKey(
  db: Db,
  accountId: AccountId,
  id: KeyId,
  nowMs: number,
): Promise<KeyRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'key_revoke',
    text: `update api_keys set revoked_at = coalesce(revoked_at, to_timestamp($3 / 1000.0))
      where account_id = $1 and id = $2 returning ${COLUMNS}`,
    values: [toUuid(accountId), toUuid(id), nowMs],
  })
  if (!rows[0]) return null
  // After the update: inviting locks the key's row, so an invitation is either deleted here or finds the key revoked.
  await db.query({
    name: 'key_invitations_delete',
    text: 'delete from invitations where account_id = $1 and inviter_id = $2 and accepted_at is null',
    values: [toUuid(accountId), toUuid(id)],
  })
  return toRow(rows[0])
}

export type KeyUse = { accountId: AccountId; id: KeyId; atMs: number }

/** Never sets a time back. Locks in the order of ids, so that two nodes cannot deadlock. */
export async function updateLastUsed(db: Db, uses: readonly KeyUse[]): Promise<void> {
  await db.query({
    name: 'keys_used',
    text: `with used as (
        select k.account_id, k.id, u.at
          from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as u (account_id, id, at)
          join api_keys k on k.account_id = u.account_id and k.id = u.id
         where k.last_used_at is null or k.last_used_at < u.at
         order by k.account_id, k.id
           for no key update of k
      )
      update api_keys k set last_used_at = used.at from used
       where k.account_id = used.account_id and k.id = used.id`,
    values: [
      uuidArray(uses, use => use.accountId),
      uuidArray(uses, use => use.id),
      timeArray(uses, use => use.atMs),
    ],
  })
}

function toRow({ uuid, accountUuid, makerType, makerUuid, makerName, ...rest }: Stored): KeyRow {
  const makerId = makerUuid === null ? null : fromUuid(makerType === 'user' ? 'usr' : 'key', makerUuid)
  const madeBy = makerType && { type: makerType, id: makerId, name: makerName! }
  return { id: fromUuid('key', uuid), accountId: fromUuid('acc', accountUuid), ...rest, madeBy }
}

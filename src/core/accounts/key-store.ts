import type { KeyMode, KeyRole, Permission } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, timeArray } from '../../infra/pg-array.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'

export type KeyId = Id<'key'>

/** A key as the store knows it: never the key itself. Times in ms since the epoch. */
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
  lastUsedAtMs: number | null
}

type Stored = Omit<KeyRow, 'id' | 'accountId'> & { uuid: string; accountUuid: string }

const COLUMNS = `id as uuid, account_id as "accountUuid", name, prefix, mode, role, permissions,
  (extract(epoch from expires_at) * 1000)::bigint as "expiresAtMs",
  (extract(epoch from revoked_at) * 1000)::bigint as "revokedAtMs",
  (extract(epoch from last_used_at) * 1000)::bigint as "lastUsedAtMs"`

/** `hash` is SHA-256 in hex. */
export async function insertKey(db: Db, key: KeyRow, hash: string): Promise<void> {
  await db.query({
    name: 'key_insert',
    text: `insert into api_keys (account_id, id, name, prefix, hash, mode, role, permissions, expires_at)
      values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, to_timestamp($9 / 1000.0))`,
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

/** The newest first. */
export async function listKeys(db: Db, accountId: AccountId): Promise<KeyRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'keys_of_account',
    text: `select ${COLUMNS} from api_keys where account_id = $1 order by id desc`,
    values: [toUuid(accountId)],
  })
  return rows.map(toRow)
}

/** A page of them, the newest first; with `activeAtMs` those alone that work at that time. */
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

/** `lock` keeps other changes of the key out until the transaction ends. */
export async function selectKey(
  db: Db,
  accountId: AccountId,
  id: KeyId,
  lock = false,
): Promise<KeyRow | null> {
  const { rows } = await db.query<Stored>({
    name: lock ? 'key_lock' : 'key_by_id',
    text: `select ${COLUMNS} from api_keys where account_id = $1 and id = $2${lock ? ' for no key update' : ''}`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Lets it go on until then. */
export async function expireKey(db: Db, accountId: AccountId, id: KeyId, atMs: number): Promise<void> {
  await db.query({
    name: 'key_expire',
    text: 'update api_keys set expires_at = to_timestamp($3 / 1000.0) where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id), atMs],
  })
}

/** A key that was revoked before keeps its time. Null where the account has no such key. */
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
  return rows[0] ? toRow(rows[0]) : null
}

export type KeyUse = { accountId: AccountId; id: KeyId; atMs: number }

/** Never sets a time back. Locks in the order of ids, so that two nodes do not wait in a circle. */
export async function markUsed(db: Db, uses: readonly KeyUse[]): Promise<void> {
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
      bareArray(uses.map(use => toUuid(use.accountId))),
      bareArray(uses.map(use => toUuid(use.id))),
      timeArray(uses.map(use => use.atMs)),
    ],
  })
}

function toRow({ uuid, accountUuid, ...rest }: Stored): KeyRow {
  return { id: fromUuid('key', uuid), accountId: fromUuid('acc', accountUuid), ...rest }
}

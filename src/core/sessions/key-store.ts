import type { Db } from '../../infra/db.ts'
import { byteaArray, textArray } from '../../infra/pg-array.ts'
import { type AccountId, type ConnectionId, toUuid } from '../../lib/ids.ts'

type Owner = { accountId: AccountId; id: ConnectionId }
export type SealedKey = { kind: string; keyId: string; value: Buffer }

export async function selectKeys(
  db: Db,
  { accountId, id }: Owner,
  kind: string,
  keyIds: readonly string[],
): Promise<SealedKey[]> {
  const { rows } = await db.query<SealedKey>({
    name: 'web_session_keys_read',
    text: `select kind, key_id as "keyId", value from web_session_keys
            where account_id = $1 and session_id = $2 and kind = $3 and key_id = any ($4::text[])`,
    values: [toUuid(accountId), toUuid(id), kind, textArray([...keyIds], id => id)],
  })
  return rows
}

export async function upsertKeys(
  db: Db,
  { accountId, id }: Owner,
  keys: readonly SealedKey[],
): Promise<void> {
  if (keys.length === 0) return
  await db.query({
    name: 'web_session_keys_write',
    text: `insert into web_session_keys (account_id, session_id, kind, key_id, value)
           select $1, $2, i.kind, i.key_id, i.value
             from unnest($3::text[], $4::text[], $5::bytea[]) as i (kind, key_id, value)
           on conflict (account_id, session_id, kind, key_id) do update set value = excluded.value`,
    values: [
      toUuid(accountId),
      toUuid(id),
      textArray(keys, key => key.kind),
      textArray(keys, key => key.keyId),
      byteaArray(keys, key => key.value),
    ],
  })
}

export async function deleteKeys(
  db: Db,
  { accountId, id }: Owner,
  keys: readonly Omit<SealedKey, 'value'>[],
): Promise<void> {
  if (keys.length === 0) return
  await db.query({
    name: 'web_session_keys_delete',
    text: `delete from web_session_keys k using unnest($3::text[], $4::text[]) as i (kind, key_id)
            where k.account_id = $1 and k.session_id = $2 and k.kind = i.kind and k.key_id = i.key_id`,
    values: [
      toUuid(accountId),
      toUuid(id),
      textArray(keys, key => key.kind),
      textArray(keys, key => key.keyId),
    ],
  })
}

/** Deletes the keys of a session that is no longer linked, or is removed. */
export async function deleteAllKeys(db: Db, { accountId, id }: Owner): Promise<void> {
  await db.query({
    name: 'web_session_keys_wipe',
    text: 'delete from web_session_keys where account_id = $1 and session_id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
}

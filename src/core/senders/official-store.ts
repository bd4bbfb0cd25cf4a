import type { OfficialIdentity } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, toUuid } from '../../lib/ids.ts'
import { PLATFORM_UUID } from '../accounts/platform.ts'

/** What a provider reported of a sender at the last check. */
export type StoredIdentity = OfficialIdentity & { connectionId: ConnectionId; checkedAtMs: number }

type Stored = {
  uuid: string
  phone_number: string | null
  display_name: string
  quality_rating: string | null
  messaging_limit: string | null
  status: string | null
  checked_at: Date
}

/** The known identities of the account's senders and the platform's. */
export async function selectIdentities(db: Db, accountId: AccountId): Promise<StoredIdentity[]> {
  const { rows } = await db.query<Stored>({
    name: 'official_identities',
    text: `select connection_id as uuid, phone_number, display_name, quality_rating, messaging_limit, status, checked_at
      from official_senders where account_id in ($1, $2) and checked_at is not null`,
    values: [toUuid(accountId), PLATFORM_UUID],
  })
  return rows.map(row => ({
    connectionId: fromUuid('cnn', row.uuid),
    phoneNumber: row.phone_number,
    displayName: row.display_name,
    qualityRating: row.quality_rating,
    messagingLimit: row.messaging_limit,
    status: row.status,
    checkedAtMs: row.checked_at.getTime(),
  }))
}

export type SenderRef = { accountId: AccountId; connectionId: ConnectionId }

/** Claims the senders whose check is due; no other node checks them until `nextAtMs`. */
export async function claimIdentityChecks(
  db: Db,
  nowMs: number,
  nextAtMs: number,
  senders: readonly SenderRef[],
): Promise<ConnectionId[]> {
  const { rows } = await db.query<{ uuid: string }>({
    name: 'official_claim_checks',
    text: `insert into official_senders as sender (account_id, connection_id, next_check_at)
      select account_id, connection_id, $2 from unnest($3::uuid[], $4::uuid[]) as p (account_id, connection_id)
       order by account_id, connection_id
      on conflict (account_id, connection_id) do update set next_check_at = $2
       where sender.next_check_at <= $1
      returning connection_id as uuid`,
    values: [
      toIso(nowMs),
      toIso(nextAtMs),
      uuidArray(senders, ({ accountId }) => accountId),
      uuidArray(senders, ({ connectionId }) => connectionId),
    ],
  })
  return rows.map(({ uuid }) => fromUuid('cnn', uuid))
}

/** Makes checks due that are planned for after `lastMs`: a clock that was far ahead has planned them. Returns how many. */
export async function recallIdentityChecks(db: Db, nowMs: number, lastMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'official_recall_checks',
    text: 'update official_senders set next_check_at = $1 where next_check_at > $2',
    values: [toIso(nowMs), toIso(lastMs)],
  })
  return rowCount ?? 0
}

/** Stores what the provider reported, in place of the earlier report. */
export async function storeIdentity(
  db: Db,
  { accountId, connectionId }: SenderRef,
  identity: OfficialIdentity,
  checkedAtMs: number,
  nextAtMs: number,
): Promise<void> {
  await db.query({
    name: 'official_store_identity',
    text: `update official_senders set phone_number = $3, display_name = $4, quality_rating = $5,
        messaging_limit = $6, status = $7, checked_at = $8, next_check_at = $9
      where account_id = $1 and connection_id = $2`,
    values: [
      toUuid(accountId),
      toUuid(connectionId),
      identity.phoneNumber,
      identity.displayName,
      identity.qualityRating,
      identity.messagingLimit,
      identity.status,
      toIso(checkedAtMs),
      toIso(nextAtMs),
    ],
  })
}

/** Deletes the identity of a connection whose number may have changed, so that it is checked again. */
export async function deleteIdentity(db: Db, { accountId, connectionId }: SenderRef): Promise<void> {
  await db.query({
    name: 'official_delete_identity',
    text: 'delete from official_senders where account_id = $1 and connection_id = $2',
    values: [toUuid(accountId), toUuid(connectionId)],
  })
}

/** Deletes the identities of deleted connections, at most `limit`; returns how many. */
export async function sweepIdentities(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'official_sweep',
    text: `delete from official_senders where (account_id, connection_id) in (
        select s.account_id, s.connection_id from official_senders s
         where not exists (select from connections c where c.account_id = s.account_id and c.id = s.connection_id)
         limit $1)`,
    values: [limit],
  })
  return rowCount ?? 0
}

/** The default that the account chose: null for the platform's, undefined for no choice. */
export async function selectOfficialDefault(
  db: Db,
  accountId: AccountId,
): Promise<ConnectionId | null | undefined> {
  const { rows } = await db.query<{ uuid: string | null }>({
    name: 'official_default',
    text: 'select connection_id as uuid from official_defaults where account_id = $1',
    values: [toUuid(accountId)],
  })
  const [row] = rows
  return row && (row.uuid === null ? null : fromUuid('cnn', row.uuid))
}

/** Null is the platform's number. */
export async function storeOfficialDefault(
  db: Db,
  accountId: AccountId,
  connectionId: ConnectionId | null,
): Promise<void> {
  await db.query({
    name: 'official_set_default',
    text: `insert into official_defaults (account_id, connection_id) values ($1, $2)
      on conflict (account_id) do update set connection_id = excluded.connection_id`,
    values: [toUuid(accountId), connectionId && toUuid(connectionId)],
  })
}

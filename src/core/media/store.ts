import type { AttachmentType } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type AssetId, fromUuid, type Id, type MessageId, toUuid } from '../../lib/ids.ts'
import { PLATFORM_UUID } from '../accounts/platform.ts'
import type { Asset } from './asset.ts'

export type AssetRef = { accountId: AccountId; id: AssetId }

/** A user of an asset: a message that is to carry it, or a bulk job whose rows name it. */
export type AssetUser = { accountId: AccountId; id: MessageId | Id<'job'> }

type Stored = {
  account: string
  uuid: string
  mediaType: AttachmentType
  mimetype: string
  fileName: string
  size: number
  sha256: Buffer
}

const COLUMNS = `account_id as account, id as uuid, media_type as "mediaType", mimetype,
  file_name as "fileName", size, sha256`

/** The least that a file counts against the account's limit, which so also bounds the number of files. */
const MIN_COUNTED_BYTES = 65_536
/** Long, since a sweep may have much to do and no request waits for it. */
const SWEEP_TIMEOUT_MS = 30_000

/** Records that an upload has begun, so that its bytes are deleted if it fails. */
export async function insertUpload(db: Db, ref: AssetRef, nowMs: number): Promise<void> {
  await db.query({
    name: 'media_insert',
    text: `insert into media (account_id, id, state, file_name, used_at) values ($1, $2, 'storing', '', $3)`,
    values: [toUuid(ref.accountId), toUuid(ref.id), toIso(nowMs)],
  })
}

/** The size of an account's files in bytes, each counted with at least `MIN_COUNTED_BYTES`. */
export async function measureAssets(db: Db, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>({
    name: 'media_measure',
    text: `select coalesce(sum(greatest(size, ${MIN_COUNTED_BYTES})), 0)::bigint as bytes
             from media where account_id = $1 and state <> 'storing'`,
    values: [toUuid(accountId)],
  })
  return rows[0]!.bytes
}

/** Makes an uploaded asset visible; false if its upload was abandoned meanwhile. */
export async function markStored(db: Db, asset: Asset, nowMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'media_stored',
    text: `update media set state = 'stored', file_name = $3, media_type = $4, mimetype = $5, size = $6,
             sha256 = $7, used_at = $8
            where account_id = $1 and id = $2 and state = 'storing'`,
    values: [
      toUuid(asset.accountId),
      toUuid(asset.id),
      asset.fileName,
      asset.mediaType,
      asset.mimetype,
      asset.size,
      asset.sha256,
      toIso(nowMs),
    ],
  })
  return rowCount === 1
}

/** The assets with these ids that the account may use: its own and the platform's. */
export async function selectAssets(
  db: Db,
  accountId: AccountId,
  ids: readonly AssetId[],
): Promise<Map<AssetId, Asset>> {
  const { rows } = await db.query<Stored>({
    name: 'media_select',
    text: `select ${COLUMNS} from media
            where account_id in ($1, $2) and id = any ($3::uuid[]) and state = 'stored'`,
    values: [toUuid(accountId), PLATFORM_UUID, uuidArray(ids, id => id)],
  })
  return new Map(rows.map(toAsset).map(asset => [asset.id, asset]))
}

/**
 * Records a message or bulk job as user of an asset of its account or the platform. Idempotent; false
 * if the asset is deleted or being deleted.
 */
export async function insertUse(db: Db, id: AssetId, user: AssetUser): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'media_use',
    text: `insert into media_uses (account_id, asset_id, message_account_id, message_id)
           select account_id, id, $3, $4 from media
            where account_id in ($1, $2) and id = $5 and state = 'stored' for share
           on conflict (account_id, asset_id, message_id) do update set message_account_id = excluded.message_account_id`,
    values: [toUuid(user.accountId), PLATFORM_UUID, toUuid(user.accountId), toUuid(user.id), toUuid(id)],
  })
  return rowCount === 1
}

/** Deletes all uses by a message; a repeat changes nothing. */
export async function deleteUses(db: Db, messageId: MessageId): Promise<void> {
  await db.query({
    name: 'media_delete_uses',
    text: 'delete from media_uses where message_id = $1',
    values: [toUuid(messageId)],
  })
}

/** Keeps an asset from being deleted until the transaction ends; false if it is deleted or being deleted. */
export async function lockAssetShared(tx: Db, ref: AssetRef): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'media_share',
    text: `select 1 from media where account_id = $1 and id = $2 and state = 'stored' for share`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
  return rowCount === 1
}

/** Stores when an asset was last used, which its retention period begins with. */
export async function updateLastUse(tx: Db, ref: AssetRef, nowMs: number): Promise<void> {
  await tx.query({
    name: 'media_last_use',
    text: 'update media set used_at = $3 where account_id = $1 and id = $2',
    values: [toUuid(ref.accountId), toUuid(ref.id), toIso(nowMs)],
  })
}

/** Locks an asset exclusively until the transaction ends; false if there is no visible one. */
export async function lockAsset(tx: Db, ref: AssetRef): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'media_lock',
    text: `select 1 from media where account_id = $1 and id = $2 and state = 'stored' for update`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
  return rowCount === 1
}

const NOT_IN_TEMPLATE = 'not exists (select 1 from templates t where t.header_asset_id = m.id)'

/** SQL condition: no template uses the asset, and no use is recorded, not even one that has ended. */
const UNUSED = `not exists (select 1 from media_uses u where u.account_id = m.account_id and u.asset_id = m.id)
  and ${NOT_IN_TEMPLATE}`

/**
 * SQL condition: `UNUSED`, but uses do not count that have ended and were not swept yet. A use whose message is in
 * no table is of one that is being accepted, and counts.
 */
const UNNEEDED = `not exists (
    select 1 from media_uses u
     where u.account_id = m.account_id and u.asset_id = m.id
       and not exists (select 1 from bulk_jobs j
                        where j.account_id = u.message_account_id and j.id = u.message_id and j.ended_at is not null)
       and (exists (select 1 from outbox o
                     where o.account_id = u.message_account_id and o.message_id = u.message_id)
            or not exists (select 1 from messages g
                            where g.account_id = u.message_account_id and g.id = u.message_id)))
  and ${NOT_IN_TEMPLATE}`

/**
 * Hides an asset, which is then deleted; false if it is used. A separate statement
 * after the lock, since the locking statement itself would not see a use that was added while it waited.
 */
export async function hideUnused(tx: Db, ref: AssetRef): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'media_hide_unused',
    text: `update media m set state = 'leaving' where account_id = $1 and id = $2 and ${UNUSED}`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
  return rowCount === 1
}

/** `hideUnused` for a request to delete: uses that have ended and were not swept yet do not count. */
export async function hideUnneeded(tx: Db, ref: AssetRef): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'media_hide_unneeded',
    text: `update media m set state = 'leaving' where account_id = $1 and id = $2 and ${UNNEEDED}`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
  return rowCount === 1
}

/** Hides an asset whose id was not given to anybody yet. */
export async function hideAsset(db: Db, ref: AssetRef): Promise<void> {
  await db.query({
    name: 'media_hide',
    text: `update media set state = 'leaving' where account_id = $1 and id = $2`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
}

/** Deletes the row of an asset whose bytes were deleted. */
export async function deleteAsset(db: Db, ref: AssetRef): Promise<void> {
  await db.query({
    name: 'media_delete',
    text: `delete from media where account_id = $1 and id = $2 and state <> 'stored'`,
    values: [toUuid(ref.accountId), toUuid(ref.id)],
  })
}

/** Hides uploads that began before a time and did not end, because their node died; returns how many. */
export async function abandonUploads(db: Db, beganBeforeMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'media_abandon_uploads',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `update media set state = 'leaving' where state = 'storing' and used_at < $1`,
    values: [toIso(beganBeforeMs)],
  })
  return rowCount ?? 0
}

/** Assets whose bytes are to be deleted, the longest waiting first. */
export async function selectHidden(db: Db, limit: number): Promise<AssetRef[]> {
  const { rows } = await db.query<{ account: string; uuid: string }>({
    name: 'media_select_hidden',
    text: `select account_id as account, id as uuid from media where state = 'leaving'
            order by used_at limit $1`,
    values: [limit],
  })
  return rows.map(toRef)
}

/** Assets that are unused since before `usedBeforeMs`; check them again under a lock. */
export async function selectIdle(db: Db, usedBeforeMs: number, limit: number): Promise<AssetRef[]> {
  const { rows } = await db.query<{ account: string; uuid: string }>({
    name: 'media_idle',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `select account_id as account, id as uuid from media m
            where state = 'stored' and used_at < $1 and ${UNUSED} order by used_at limit $2`,
    values: [toIso(usedBeforeMs), limit],
  })
  return rows.map(toRef)
}

/** Deletes uses of messages and bulk jobs that have ended, and sets the last use of their assets; returns how many. */
export async function sweepUses(
  db: Db,
  acceptedBeforeMs: number,
  nowMs: number,
  limit: number,
): Promise<number> {
  const { rows } = await db.query<{ ended: number }>({
    name: 'media_sweep_uses',
    timeoutMs: SWEEP_TIMEOUT_MS,
    // `offset 0` makes it a look-up for each use: a join could read the whole outbox for each.
    text: `with done as (
             select account_id, asset_id, message_id from media_uses u
              where message_id < first_uuid_at($1)
                and not exists (select 1 from outbox o
                                 where o.account_id = u.message_account_id and o.message_id = u.message_id offset 0)
                and not exists (select 1 from bulk_jobs j
                                 where j.account_id = u.message_account_id and j.id = u.message_id and j.ended_at is null)
              limit $3
           ), ended as (
             delete from media_uses u using done d
              where u.account_id = d.account_id and u.asset_id = d.asset_id and u.message_id = d.message_id
             returning u.account_id, u.asset_id
           ), noted as (
             update media m set used_at = $2 from (select distinct account_id, asset_id from ended) e
              where m.account_id = e.account_id and m.id = e.asset_id
           )
           select count(*)::integer as ended from ended`,
    values: [toIso(acceptedBeforeMs), toIso(nowMs), limit],
  })
  return rows[0]!.ended
}

function toRef({ account, uuid }: { account: string; uuid: string }): AssetRef {
  return { accountId: fromUuid('acc', account), id: fromUuid('ast', uuid) }
}

function toAsset({ account, uuid, ...rest }: Stored): Asset {
  return { ...rest, ...toRef({ account, uuid }) }
}

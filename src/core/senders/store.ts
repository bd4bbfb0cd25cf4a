import type { SenderStatus } from '../../contract/sender.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import { PLATFORM_UUID } from '../accounts/platform.ts'

export type SenderId = Id<'snd'>

export type SenderRow = {
  id: SenderId
  accountId: AccountId
  name: string
  status: SenderStatus
  isDefault: boolean
  reason: string | null
  webhookConfigured: boolean
}

type Stored = Omit<SenderRow, 'id' | 'accountId'> & { uuid: string; accountUuid: string }

const COLUMNS = `id as uuid, account_id as "accountUuid", name, status, is_default as "isDefault", reason,
  webhook_url is not null as "webhookConfigured"`

/** The senders of the account and of the platform. */
export async function selectSendersFor(db: Db, accountId: AccountId): Promise<SenderRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'senders_for_account',
    text: `select ${COLUMNS} from sms_senders where account_id in ($1, $2) order by account_id, id`,
    values: [toUuid(accountId), PLATFORM_UUID],
  })
  return rows.map(toRow)
}

/** Only the account's own, the newest first. */
export async function selectOwnSenders(db: Db, accountId: AccountId): Promise<SenderRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'senders_of_account',
    text: `select ${COLUMNS} from sms_senders where account_id = $1 order by id desc`,
    values: [toUuid(accountId)],
  })
  return rows.map(toRow)
}

export async function countOwnSenders(db: Db, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'senders_count',
    text: 'select count(*)::integer as n from sms_senders where account_id = $1',
    values: [toUuid(accountId)],
  })
  return rows[0]!.n
}

/** A page of the account's own, the newest first; `before` is the last id of the previous page. */
export async function pageOwnSenders(
  db: Db,
  accountId: AccountId,
  before: SenderId | null,
  limit: number,
): Promise<SenderRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'senders_page',
    text: `select ${COLUMNS} from sms_senders
      where account_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    values: [toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

/** Of all accounts or of one, the newest first; `before` is the last id of the previous page. */
export async function listSenders(
  db: Db,
  { status, accountId }: { status: SenderStatus | null; accountId: AccountId | null },
  before: SenderId | null,
  limit: number,
): Promise<SenderRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'senders_list',
    text: `select ${COLUMNS} from sms_senders
      where ($1::text is null or status = $1) and ($2::uuid is null or account_id = $2)
        and ($3::uuid is null or id < $3) order by id desc limit $4`,
    values: [status, accountId && toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

export async function selectSender(db: Db, id: SenderId): Promise<SenderRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'sender_by_id',
    text: `select ${COLUMNS} from sms_senders where id = $1`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The callback for the decision on a sender; the secret is sealed. */
export type SenderCallback = { url: string; secret: Buffer }

/** False if the account has a sender of this name already. */
export async function insertSender(
  db: Db,
  sender: SenderRow,
  callback: SenderCallback | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'sender_insert',
    text: `insert into sms_senders (account_id, id, name, status, is_default, webhook_url, webhook_secret)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (account_id, name) do nothing`,
    values: [
      toUuid(sender.accountId),
      toUuid(sender.id),
      sender.name,
      sender.status,
      sender.isDefault,
      callback?.url ?? null,
      callback?.secret ?? null,
    ],
  })
  return rowCount === 1
}

/** A sender of the account itself; null for others. */
export async function selectOwnSender(db: Db, accountId: AccountId, id: SenderId): Promise<SenderRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'sender_own',
    text: `select ${COLUMNS} from sms_senders where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Makes a sender the account's default; call `clearDefault` before. */
export async function setDefault(db: Db, accountId: AccountId, id: SenderId): Promise<void> {
  await db.query({
    name: 'sender_set_default',
    text: 'update sms_senders set is_default = true where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
}

/** The key of an advisory lock, an arbitrary constant: the platform has no row to lock. */
const PLATFORM_DEFAULT_LOCK = 7_068_103

/** Until the transaction ends, serializes changes of the platform's default. */
export async function lockPlatformDefault(db: Db): Promise<void> {
  await db.query({
    name: 'sender_platform_default_lock',
    text: 'select pg_advisory_xact_lock($1)',
    values: [PLATFORM_DEFAULT_LOCK],
  })
}

export async function clearDefault(db: Db, accountId: AccountId): Promise<void> {
  await db.query({
    name: 'sender_clear_default',
    text: 'update sms_senders set is_default = false where account_id = $1 and is_default',
    values: [toUuid(accountId)],
  })
}

/** Decides on a pending sender; null if there is none, or it was decided before. */
export async function decideSender(
  db: Db,
  id: SenderId,
  status: 'approved' | 'rejected',
  reason: string | null,
): Promise<SenderRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'sender_decide',
    text: `update sms_senders set status = $2, reason = $3 where id = $1 and status = 'pending'
      returning ${COLUMNS}`,
    values: [toUuid(id), status, reason],
  })
  return rows[0] ? toRow(rows[0]) : null
}

function toRow({ uuid, accountUuid, ...rest }: Stored): SenderRow {
  return { id: fromUuid('snd', uuid), accountId: fromUuid('acc', accountUuid), ...rest }
}

import type { Channel, MessageType, SendMode } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, type ConnectionId, fromUuid, toUuid } from '../../lib/ids.ts'
import { PLATFORM, PLATFORM_UUID } from '../accounts/platform.ts'
import type { Config } from './config.ts'

export type ConnectionRow = {
  id: ConnectionId
  /** The owner, or `PLATFORM`. */
  accountId: AccountId
  provider: string
  name: string
  channels: Channel[]
  /** Without secrets. */
  config: Config
  /** Sealed values in base64, by field; null without secrets. */
  secrets: Record<string, string> | null
  enabled: boolean
  priorityOrder: number
  maxAttempts: number
  backoffMs: number
  allowedTypes: MessageType[]
  sendModeByType: Partial<Record<MessageType, SendMode>>
  /** Increases with every change. */
  revision: number
}

type Stored = Omit<ConnectionRow, 'id' | 'accountId' | 'secrets'> & {
  uuid: string
  accountUuid: string
  secrets: Buffer | null
}

const COLUMNS = `id as uuid, account_id as "accountUuid", provider, name, channels, config, secrets, enabled,
  priority_order as "priorityOrder", max_attempts as "maxAttempts", backoff_ms as "backoffMs",
  allowed_types as "allowedTypes", send_mode_by_type as "sendModeByType", revision`

/** The order in which connections are tried: by priority, an account's own before the platform's. */
export function byPriority(a: ConnectionRow, b: ConnectionRow): number {
  const platformLast = Number(a.accountId === PLATFORM) - Number(b.accountId === PLATFORM)
  return a.priorityOrder - b.priorityOrder || platformLast || (a.id < b.id ? -1 : 1)
}

/** The connections that the account may use, in the order in which they are tried. */
export async function selectConnectionsFor(db: Db, accountId: AccountId): Promise<ConnectionRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'connections_for_account',
    text: `select ${COLUMNS} from connections where account_id in ($1, $2)`,
    values: [toUuid(accountId), PLATFORM_UUID],
  })
  return rows.map(toRow).sort(byPriority)
}

export async function selectConnection(db: Db, id: ConnectionId): Promise<ConnectionRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'connection_by_id',
    text: `select ${COLUMNS} from connections where id = $1`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The same, and holds off other changes until the transaction ends. */
export async function selectConnectionForUpdate(tx: Db, id: ConnectionId): Promise<ConnectionRow | null> {
  const { rows } = await tx.query<Stored>({
    name: 'connection_lock',
    text: `select ${COLUMNS} from connections where id = $1 for update`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Connections of all accounts, the newest first; `before` is the last id of the previous page. */
export async function listConnections(
  db: Db,
  before: ConnectionId | null,
  limit: number,
): Promise<ConnectionRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'connections_list',
    text: `select ${COLUMNS} from connections where $1::uuid is null or id < $1 order by id desc limit $2`,
    values: [before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

/** Connections of all accounts: each node opens links for them. */
export async function selectAllConnections(db: Db): Promise<ConnectionRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'connections_all',
    text: `select ${COLUMNS} from connections order by id`,
  })
  return rows.map(toRow)
}

export async function insertConnection(db: Db, row: ConnectionRow): Promise<void> {
  await db.query({
    name: 'connection_insert',
    text: `insert into connections (account_id, id, provider, name, channels, config, secrets, enabled,
        priority_order, max_attempts, backoff_ms, allowed_types, send_mode_by_type, revision)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      row.provider,
      row.name,
      row.channels,
      row.config,
      bytesOf(row.secrets),
      row.enabled,
      row.priorityOrder,
      row.maxAttempts,
      row.backoffMs,
      row.allowedTypes,
      row.sendModeByType,
      row.revision,
    ],
  })
}

export async function updateConnection(db: Db, row: ConnectionRow): Promise<void> {
  await db.query({
    name: 'connection_update',
    text: `update connections set name = $3, channels = $4, config = $5, secrets = $6, enabled = $7,
        priority_order = $8, max_attempts = $9, backoff_ms = $10, allowed_types = $11, send_mode_by_type = $12,
        revision = $13
      where account_id = $1 and id = $2`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      row.name,
      row.channels,
      row.config,
      bytesOf(row.secrets),
      row.enabled,
      row.priorityOrder,
      row.maxAttempts,
      row.backoffMs,
      row.allowedTypes,
      row.sendModeByType,
      row.revision,
    ],
  })
}

/** The owner of the deleted connection; null if there is none, or it is the platform's only one of the provider `needed`. */
export async function deleteConnection(db: Db, id: ConnectionId, needed: string): Promise<AccountId | null> {
  const { rows } = await db.query<{ accountUuid: string }>({
    name: 'connection_delete',
    text: `delete from connections c where c.id = $1
              and (c.provider <> $2 or exists (
                select from connections o where o.provider = $2 and o.account_id = $3 and o.id <> c.id))
            returning c.account_id as "accountUuid"`,
    values: [toUuid(id), needed, PLATFORM_UUID],
  })
  return rows[0] ? fromUuid('acc', rows[0].accountUuid) : null
}

function bytesOf(secrets: ConnectionRow['secrets']): Buffer | null {
  return secrets && Buffer.from(JSON.stringify(secrets))
}

function toRow({ uuid, accountUuid, secrets, ...rest }: Stored): ConnectionRow {
  return {
    id: fromUuid('cnn', uuid),
    accountId: fromUuid('acc', accountUuid),
    secrets: secrets && (JSON.parse(secrets.toString()) as Record<string, string>),
    ...rest,
  }
}

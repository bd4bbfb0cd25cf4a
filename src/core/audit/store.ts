import type { AuditEntry } from '../../contract/audit.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, firstUuidAt, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import type { AuditNote } from './note.ts'

export type AuditId = Id<'aud'>

export type AuditRow = Omit<AuditNote, 'accountId'> & {
  id: AuditId
  /** Or `PLATFORM`. */
  accountId: AccountId
}

export type AuditFilter = {
  /** Of all where null. */
  accountId: AccountId | null
  /** One action, or the noun of several. */
  action: string | null
  actorId: Id<'usr'> | Id<'key'> | null
  fromMs: number | null
  toMs: number | null
}

type Stored = {
  account_id: string
  id: string
  actor_type: AuditEntry['actor']['type']
  actor_id: string | null
  actor_name: string
  action: string
  target: string | null
  changes: Record<string, unknown>
  ip: string | null
  request_id: string
}

/** Again, it changes nothing. */
export async function insertEntry(db: Db, row: AuditRow): Promise<void> {
  await db.query({
    name: 'audit_insert',
    text: `insert into audit_log (account_id, id, actor_type, actor_id, actor_name, action, target, changes, ip, request_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (account_id, id) do nothing`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      row.actor.type,
      row.actor.id && toUuid(row.actor.id),
      row.actor.name,
      row.action,
      row.target,
      JSON.stringify(row.changes),
      row.ip,
      toUuid(row.requestId),
    ],
  })
}

/** The newest first, below `before`. Ids sort by time, so times are ranges of the key. */
export async function listEntries(
  db: Db,
  { accountId, action, actorId, fromMs, toMs }: AuditFilter,
  before: AuditId | null,
  limit: number,
): Promise<AuditRow[]> {
  const ofOne = accountId !== null
  const { rows } = await db.query<Stored>({
    name: ofOne ? 'audit_of_account' : 'audit_of_all',
    text: `select * from audit_log
      where ${ofOne ? 'account_id = $1' : '$1::uuid is null'}
        and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
        and ($3::uuid is null or actor_id = $3)
        and id >= coalesce($4::uuid, '00000000-0000-0000-0000-000000000000')
        and id < coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        and id < coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by id desc limit $7`,
    values: [
      accountId && toUuid(accountId),
      action,
      actorId && toUuid(actorId),
      fromMs === null ? null : firstUuidAt(fromMs),
      toMs === null ? null : firstUuidAt(toMs),
      before && toUuid(before),
      limit,
    ],
  })
  return rows.map(toRow)
}

function toRow(raw: Stored): AuditRow {
  return {
    id: fromUuid('aud', raw.id),
    accountId: fromUuid('acc', raw.account_id),
    actor: { type: raw.actor_type, id: actorIdOf(raw), name: raw.actor_name },
    action: raw.action,
    target: raw.target,
    changes: raw.changes,
    ip: raw.ip,
    requestId: fromUuid('req', raw.request_id),
  }
}

function actorIdOf({ actor_type: type, actor_id: id }: Stored): AuditRow['actor']['id'] {
  if (id === null) return null
  return type === 'user' ? fromUuid('usr', id) : fromUuid('key', id)
}

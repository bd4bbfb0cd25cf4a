import type { AuditEntry } from '../../contract/audit.ts'
import type { Db } from '../../infra/db.ts'
import { MAX_SCANNED_ROWS, type Stretch } from '../../lib/bounded-scan.ts'
import {
  type AccountId,
  FIRST_UUID,
  firstUuidAt,
  fromUuid,
  type Id,
  LAST_UUID,
  toUuid,
} from '../../lib/ids.ts'
import type { NewAuditEntry } from './entry.ts'

export type AuditId = Id<'aud'>

export type AuditRow = Omit<NewAuditEntry, 'accountId'> & {
  id: AuditId
  /** `PLATFORM` for the platform's own. */
  accountId: AccountId
}

export type AuditFilter = {
  /** Null for all accounts. */
  accountId: AccountId | null
  /** An action, or the part before its dot, which stands for all actions with it. */
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

/** Idempotent: an entry that is stored already stays as it is. */
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

/** The newest first. Ids sort by time, so a time range is a range of ids. */
export async function listEntries(
  db: Db,
  filter: AuditFilter,
  { before, stoppedAt, limit }: Stretch<AuditId>,
): Promise<AuditRow[]> {
  const { rows } = await db.query<Stored>({
    name: `audit_list_${scopeOf(filter)}`,
    text: `select * from audit_log
      where ${SCOPES[scopeOf(filter)]} and id >= $5
        and ($6::text is null or action = $6 or starts_with(action, $6 || '.'))
        and ($7::uuid is null or actor_id = $7)
      order by id desc limit $8`,
    values: [
      ...rangeValues(filter, before),
      stoppedAt === null ? FIRST_UUID : toUuid(stoppedAt),
      filter.action,
      filter.actorId && toUuid(filter.actorId),
      limit,
    ],
  })
  return rows.map(toRow)
}

/** The id down to which one statement looks, so that it stays bounded; null when it may look to the end. */
export async function findAuditScanEnd(
  db: Db,
  filter: AuditFilter,
  before: AuditId | null,
): Promise<AuditId | null> {
  const { rows } = await db.query<{ id: string }>({
    name: `audit_end_${scopeOf(filter)}`,
    text: `select id from audit_log where ${SCOPES[scopeOf(filter)]}
      order by id desc offset ${MAX_SCANNED_ROWS - 1} limit 2`,
    values: rangeValues(filter, before),
  })
  return rows.length === 2 ? fromUuid('aud', rows[0]!.id) : null
}

/** Conditions for the entries of one account, or of all accounts; each uses an index of its own. */
const SCOPES = {
  account: 'account_id = $1 and id >= $2 and id < $3 and id < $4',
  all: '$1::uuid is null and id >= $2 and id < $3 and id < $4',
} as const

function scopeOf({ accountId }: AuditFilter): keyof typeof SCOPES {
  return accountId === null ? 'all' : 'account'
}

function rangeValues({ accountId, fromMs, toMs }: AuditFilter, before: AuditId | null): unknown[] {
  return [
    accountId && toUuid(accountId),
    fromMs === null ? FIRST_UUID : firstUuidAt(fromMs),
    toMs === null ? LAST_UUID : firstUuidAt(toMs),
    before === null ? LAST_UUID : toUuid(before),
  ]
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

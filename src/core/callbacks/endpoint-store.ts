import { type DisabledReason, EVENT_TYPES, type Listened } from '../../contract/webhook.ts'
import type { Db } from '../../infra/db.ts'
import { textArray } from '../../infra/pg-array.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'
import type { WebhookId } from './store.ts'

/** An endpoint's row without its secrets; times in ms since the epoch. */
export type WebhookRow = {
  id: WebhookId
  url: string
  description: string
  eventTypes: Listened[]
  enabled: boolean
  failingSince: number | null
  disabledAt: number | null
  disabledReason: DisabledReason | null
  previousUntil: number | null
}

type Raw = Omit<WebhookRow, 'id' | 'failingSince' | 'disabledAt' | 'previousUntil'> & {
  uuid: string
  failingSince: Date | null
  disabledAt: Date | null
  previousUntil: Date | null
}

const COLUMNS = `id as uuid, url, description, event_types as "eventTypes", enabled, failing_since as "failingSince",
  disabled_at as "disabledAt", disabled_reason as "disabledReason", previous_until as "previousUntil"`

/** The newest first; `before` is the last id of the page before. */
export async function listWebhooks(
  db: Db,
  accountId: AccountId,
  before: WebhookId | null,
  limit: number,
): Promise<WebhookRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'webhooks_list',
    text: `select ${COLUMNS} from webhook_endpoints
      where account_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    values: [toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

export async function selectWebhook(db: Db, accountId: AccountId, id: WebhookId): Promise<WebhookRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'webhook_by_id',
    text: `select ${COLUMNS} from webhook_endpoints where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

export async function countWebhooks(db: Db, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'webhooks_count',
    text: 'select count(*)::integer as n from webhook_endpoints where account_id = $1',
    values: [toUuid(accountId)],
  })
  return rows[0]!.n
}

/** `secret` sealed. */
export async function insertWebhook(
  db: Db,
  accountId: AccountId,
  row: WebhookRow,
  secret: Buffer,
): Promise<void> {
  await db.query({
    name: 'webhook_insert',
    text: `insert into webhook_endpoints
        (account_id, id, url, description, event_types, enabled, secret, disabled_at, disabled_reason)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      toUuid(accountId),
      toUuid(row.id),
      row.url,
      row.description,
      textArray(row.eventTypes, type => type),
      row.enabled,
      secret,
      isoOrNull(row.disabledAt),
      row.disabledReason,
    ],
  })
}

/**
 * Updates all but the secrets. `failing_since` is set by attempts, concurrently and without this lock: an update here only
 * clears it, or leaves it as it is.
 * @returns `failing_since` in ms since the epoch.
 */
export async function updateWebhook(
  db: Db,
  accountId: AccountId,
  row: Omit<WebhookRow, 'failingSince'>,
  clearFailing: boolean,
): Promise<number | null> {
  const { rows } = await db.query<Pick<Raw, 'failingSince'>>({
    name: 'webhook_update',
    text: `update webhook_endpoints set url = $3, description = $4, event_types = $5, enabled = $6,
        failing_since = case when not $7 then failing_since end, disabled_at = $8, disabled_reason = $9
      where account_id = $1 and id = $2 returning failing_since as "failingSince"`,
    values: [
      toUuid(accountId),
      toUuid(row.id),
      row.url,
      row.description,
      textArray(row.eventTypes, type => type),
      row.enabled,
      clearFailing,
      isoOrNull(row.disabledAt),
      row.disabledReason,
    ],
  })
  return rows[0]?.failingSince?.getTime() ?? null
}

/**
 * What signs at this time, sealed: the present secret, then the previous one. Holds off other rotations until the
 * transaction ends; null where there is no such endpoint.
 */
export async function lockSecrets(
  tx: Db,
  accountId: AccountId,
  id: WebhookId,
  nowMs: number,
): Promise<Buffer[] | null> {
  const { rows } = await tx.query<{ secret: Buffer; previous: Buffer | null }>({
    name: 'webhook_secrets_lock',
    text: `select secret, case when previous_until > $3 then previous_secret end as previous
      from webhook_endpoints where account_id = $1 and id = $2 for no key update`,
    values: [toUuid(accountId), toUuid(id), toIso(nowMs)],
  })
  const row = rows[0]
  if (!row) return null
  return row.previous === null ? [row.secret] : [row.secret, row.previous]
}

/** Replaces the secret; `previous`, null for none, signs until the given time. The caller has locked the endpoint. */
export async function replaceSecrets(
  tx: Db,
  accountId: AccountId,
  id: WebhookId,
  { secret, previous, previousUntilMs }: { secret: Buffer; previous: Buffer | null; previousUntilMs: number },
): Promise<WebhookRow> {
  const { rows } = await tx.query<Raw>({
    name: 'webhook_rotate',
    text: `update webhook_endpoints set secret = $3, previous_secret = $4, previous_until = $5
      where account_id = $1 and id = $2 returning ${COLUMNS}`,
    values: [
      toUuid(accountId),
      toUuid(id),
      secret,
      previous,
      previous === null ? null : toIso(previousUntilMs),
    ],
  })
  return toRow(rows[0]!)
}

/** False when there was none. */
export async function deleteWebhook(db: Db, accountId: AccountId, id: WebhookId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'webhook_delete',
    text: 'delete from webhook_endpoints where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rowCount === 1
}

/** SQL: the event types that an account's enabled endpoints listen to, with `*` and families expanded; $1 is every type of this version. */
const LISTENED_TYPES = `coalesce((
  select array_agg(distinct t.type order by t.type)
    from webhook_endpoints e, lateral (
           select g.type from unnest(e.event_types) as g (type) where g.type not like '%*'
           union all
           select k.type from unnest($1::text[]) as k (type) where e.event_types && event_names(k.type)
         ) t
   where e.account_id = a.id and e.enabled), '{}')`

/** Updates the event types that the account listens to; call it in the transaction of every change of an endpoint. */
export async function refreshEventTypes(db: Db, accountId: AccountId): Promise<void> {
  await db.query({
    name: 'webhook_refresh_types',
    text: `update accounts a set event_types = ${LISTENED_TYPES} where a.id = $2 and a.event_types <> ${LISTENED_TYPES}`,
    values: [textArray(EVENT_TYPES, type => type), toUuid(accountId)],
  })
}

/** The same for accounts whose `*` or families an earlier version had expanded to fewer types; returns how many. */
export async function refreshAnyEvent(db: Db): Promise<number> {
  const { rowCount } = await db.query({
    name: 'webhook_refresh_any',
    text: `update accounts a set event_types = ${LISTENED_TYPES}
      where a.id in (select account_id from webhook_endpoints where enabled and array_to_string(event_types, ' ') like '%*%')
        and not a.event_types @> ${LISTENED_TYPES}`,
    values: [textArray(EVENT_TYPES, type => type)],
  })
  return rowCount ?? 0
}

function toRow({ uuid, failingSince, disabledAt, previousUntil, ...rest }: Raw): WebhookRow {
  return {
    id: fromUuid('whk', uuid),
    ...rest,
    failingSince: failingSince?.getTime() ?? null,
    disabledAt: disabledAt?.getTime() ?? null,
    previousUntil: previousUntil?.getTime() ?? null,
  }
}

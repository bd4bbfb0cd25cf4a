import type {
  TemplateCategory,
  TemplateProvider,
  TemplateStatus,
  TemplateSubType,
} from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type Id, isId, toUuid } from '../../lib/ids.ts'
import { PLATFORM_UUID } from '../accounts/platform.ts'
import type { CompiledTemplate } from './render.ts'
import { fileOf, type TemplateSpec } from './spec.ts'

export type TemplateId = Id<'tpl'>

export type TemplateRow = {
  id: TemplateId
  /** The owner, or `PLATFORM`. */
  accountId: AccountId
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  /** '' for none. */
  language: string
  provider: TemplateProvider
  status: TemplateStatus
  reason: string | null
  spec: TemplateSpec
  compiled: CompiledTemplate
  /** Only for official templates. */
  official: TemplateBinding | null
  lastCheckedAtMs: number | null
}

/** What a view of a template shows. */
export type ViewedTemplate = Omit<TemplateRow, 'compiled'> & { compiled: Pick<CompiledTemplate, 'places'> }

/** The connection and the provider's names of an official template. */
export type TemplateBinding = {
  connectionId: ConnectionId
  onPlatformNumber: boolean
  /** Its name at the provider. */
  providerName: string
  providerTemplateId: string | null
}

type Stored = {
  uuid: string
  accountUuid: string
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  language: string
  provider: TemplateProvider
  status: TemplateStatus
  reason: string | null
  spec: TemplateSpec
  compiled: CompiledTemplate
  connectionUuid: string | null
  onPlatformNumber: boolean
  providerName: string | null
  providerTemplateId: string | null
  lastCheckedAt: Date | null
}

const COLUMNS = `id as uuid, account_id as "accountUuid", name, category, sub_type as "subType", language, provider,
  status, reason, spec, compiled, connection_id as "connectionUuid", on_platform_number as "onPlatformNumber",
  provider_name as "providerName", provider_template_id as "providerTemplateId", last_checked_at as "lastCheckedAt"`

/** The templates of the account and of the platform, the newest first. */
export async function selectTemplatesFor(db: Db, accountId: AccountId): Promise<TemplateRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'templates_for_account',
    text: `select ${COLUMNS} from templates where account_id in ($1, $2) order by id desc`,
    values: [toUuid(accountId), PLATFORM_UUID],
  })
  return rows.map(toRow)
}

export type TemplateFilter = {
  category: TemplateCategory | null
  statuses: readonly TemplateStatus[]
  provider: TemplateProvider | null
  /** A connection, or the platform's number over any connection. */
  sender: ConnectionId | 'platform' | null
}

/** A template in a list, by its id and the size of its texts. */
export type ListedTemplate = { id: TemplateId; bytes: number }

/** A page of the account's and the platform's templates, the newest first; all of them if `limit` is null. */
export async function listTemplates(
  db: Db,
  accountId: AccountId,
  filter: TemplateFilter,
  before: TemplateId | null,
  limit: number | null,
): Promise<ListedTemplate[]> {
  const connection = filter.sender !== null && filter.sender !== 'platform' ? toUuid(filter.sender) : null
  // Sorted and cut before the texts are read: to measure one reads all of it.
  const { rows } = await db.query<{ uuid: string; bytes: number }>({
    name: 'templates_list',
    text: `select id as uuid, octet_length(spec::text) as bytes from (
        select id, spec from templates
        where account_id in ($1, $2) and status = any ($3)
          and ($4::text is null or category = $4) and ($5::text is null or provider = $5)
          and ($6::uuid is null or (connection_id = $6 and not on_platform_number))
          and (not $7::boolean or on_platform_number)
          and ($8::uuid is null or id < $8)
        order by id desc limit $9
      ) as page order by id desc`,
    values: [
      toUuid(accountId),
      PLATFORM_UUID,
      filter.statuses,
      filter.category,
      filter.provider,
      connection,
      filter.sender === 'platform',
      before && toUuid(before),
      limit,
    ],
  })
  return rows.map(({ uuid, bytes }) => ({ id: fromUuid('tpl', uuid), bytes }))
}

/**
 * These of the account's and the platform's templates, the newest first, without those that were deleted. Of
 * `compiled`, which repeats all texts, only the number of placeholders is read.
 */
export async function selectListed(
  db: Db,
  accountId: AccountId,
  ids: readonly TemplateId[],
): Promise<ViewedTemplate[]> {
  const { rows } = await db.query<Stored>({
    name: 'templates_listed',
    text: `select ${COLUMNS.replace('compiled', `json_build_object('places', compiled -> 'places') as compiled`)}
      from templates where account_id in ($1, $2) and id = any ($3) order by id desc`,
    values: [toUuid(accountId), PLATFORM_UUID, ids.map(toUuid)],
  })
  return rows.map(toRow)
}

/** A template of the account or the platform; null for those of other accounts. */
export async function selectTemplate(
  db: Db,
  accountId: AccountId,
  id: TemplateId,
): Promise<TemplateRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'template_by_id',
    text: `select ${COLUMNS} from templates where account_id in ($1, $2) and id = $3`,
    values: [toUuid(accountId), PLATFORM_UUID, toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** Whether the account has a template with this name, language and provider. */
export async function templateExists(
  db: Db,
  { accountId, name, language, provider }: Pick<TemplateRow, 'accountId' | 'name' | 'language' | 'provider'>,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'template_exists',
    text: 'select 1 from templates where account_id = $1 and name = $2 and language = $3 and provider = $4',
    values: [toUuid(accountId), name, language, provider],
  })
  return rows.length > 0
}

/** How many templates an account has, and their size in bytes. */
export async function measureTemplates(
  db: Db,
  accountId: AccountId,
): Promise<{ templates: number; bytes: number }> {
  const { rows } = await db.query<{ templates: number; bytes: number }>({
    name: 'templates_weigh',
    text: `select count(*)::integer as templates, coalesce(sum(octet_length(spec::text)), 0)::bigint as bytes
      from templates where account_id = $1`,
    values: [toUuid(accountId)],
  })
  return rows[0]!
}

/** False if the account has a template with this name, language and provider. */
export async function insertTemplate(
  db: Db,
  row: TemplateRow,
  nextCheckAtMs: number | null,
): Promise<boolean> {
  const file = fileOf(row.spec.header)
  const { rowCount } = await db.query({
    name: 'template_insert',
    text: `insert into templates (account_id, id, name, category, sub_type, language, provider, status, reason,
        spec, compiled, header_asset_id, connection_id, on_platform_number, provider_name, provider_template_id,
        last_checked_at, next_check_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
      on conflict (account_id, name, language, provider) do nothing`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      row.name,
      row.category,
      row.subType,
      row.language,
      row.provider,
      row.status,
      row.reason,
      JSON.stringify(row.spec),
      JSON.stringify(row.compiled),
      file && toUuid(file.assetId),
      row.official && toUuid(row.official.connectionId),
      row.official?.onPlatformNumber ?? false,
      row.official?.providerName ?? null,
      row.official?.providerTemplateId ?? null,
      row.lastCheckedAtMs && toIso(row.lastCheckedAtMs),
      nextCheckAtMs && toIso(nextCheckAtMs),
    ],
  })
  return rowCount === 1
}

/** What a provider's report may change of a template. */
export type ReviewState = Pick<TemplateRow, 'status' | 'reason' | 'subType'>

/** The state of a template, locked until the transaction ends; null if it was deleted. */
export async function lockTemplate(
  db: Db,
  { accountId, id }: Pick<TemplateRow, 'accountId' | 'id'>,
): Promise<ReviewState | null> {
  const { rows } = await db.query<ReviewState>({
    name: 'template_lock',
    text: `select status, reason, sub_type as "subType" from templates
      where account_id = $1 and id = $2 for no key update`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ?? null
}

/** Enables or disables a template that is not official; false if it was deleted. */
export async function setTemplateStatus(
  db: Db,
  { accountId, id }: Pick<TemplateRow, 'accountId' | 'id'>,
  to: 'active' | 'disabled',
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'template_turn',
    text: 'update templates set status = $3, reason = null where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id), to],
  })
  return rowCount === 1
}

/**
 * Deletes a template and the defaults that refer to it; false if there was none. Choosing a default locks the
 * template, so one that is chosen concurrently is stored before the second statement, which deletes it.
 */
export async function deleteTemplate(
  db: Db,
  { accountId, id }: Pick<TemplateRow, 'accountId' | 'id'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'template_delete',
    text: 'delete from templates where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  await db.query({
    name: 'template_defaults_of_gone',
    text: `delete from template_defaults where template_id = $2 and (account_id = $1 or $1 = $3)`,
    values: [toUuid(accountId), toUuid(id), PLATFORM_UUID],
  })
  return rowCount === 1
}

/** The template that is used if a send names none. */
export type DefaultRow = {
  accountId: AccountId
  category: TemplateCategory
  subType: TemplateSubType
  templateId: TemplateId
  /** Of the template. */
  status: TemplateStatus
}

/** The defaults of the account and of the platform. */
export async function selectDefaultsFor(db: Db, accountId: AccountId): Promise<DefaultRow[]> {
  const { rows } = await db.query<{
    account: string
    category: TemplateCategory
    sub_type: TemplateSubType
    template: string
    status: TemplateStatus
  }>({
    name: 'template_defaults_for_account',
    text: `select d.account_id as account, d.category, d.sub_type, d.template_id as template, t.status
      from template_defaults d
      cross join lateral (
        select x.status from templates x where x.account_id in ($1, $2) and x.id = d.template_id limit 1
      ) t
      where d.account_id in ($1, $2)`,
    values: [toUuid(accountId), PLATFORM_UUID],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account),
    category: row.category,
    subType: row.sub_type,
    templateId: fromUuid('tpl', row.template),
    status: row.status,
  }))
}

export async function setDefaultTemplate(
  db: Db,
  accountId: AccountId,
  { id, category, subType }: Pick<TemplateRow, 'id' | 'category' | 'subType'>,
): Promise<void> {
  await db.query({
    name: 'template_set_default',
    text: `insert into template_defaults (account_id, category, sub_type, template_id) values ($1, $2, $3, $4)
      on conflict (account_id, category, sub_type) do update set template_id = excluded.template_id`,
    values: [toUuid(accountId), category, subType, toUuid(id)],
  })
}

/** Moves defaults that refer to the template to another sub type, unless that has a default. */
export async function moveDefaults(
  db: Db,
  { accountId, id }: Pick<TemplateRow, 'accountId' | 'id'>,
  to: TemplateSubType,
): Promise<void> {
  await db.query({
    name: 'template_defaults_move',
    text: `with moved as (
        delete from template_defaults where template_id = $2 and (account_id = $1 or $1 = $4)
        returning account_id, category, template_id
      )
      insert into template_defaults (account_id, category, sub_type, template_id)
        select account_id, category, $3, template_id from moved
      on conflict (account_id, category, sub_type) do nothing`,
    values: [toUuid(accountId), toUuid(id), to, PLATFORM_UUID],
  })
}

function toRow(stored: Stored): TemplateRow {
  const { uuid, accountUuid, connectionUuid, onPlatformNumber, providerName, providerTemplateId, ...rest } =
    stored
  const { lastCheckedAt, ...same } = rest
  return {
    ...same,
    id: fromUuid('tpl', uuid),
    accountId: fromUuid('acc', accountUuid),
    official:
      connectionUuid === null
        ? null
        : {
            connectionId: fromUuid('cnn', connectionUuid),
            onPlatformNumber,
            providerName: providerName ?? stored.name,
            providerTemplateId,
          },
    lastCheckedAtMs: lastCheckedAt?.getTime() ?? null,
  }
}

export function isTemplateId(text: string): text is TemplateId {
  return isId('tpl', text)
}

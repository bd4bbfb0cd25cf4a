import type { AccountSnapshot, PlanPool, VerificationSettings } from '../../contract/caller.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'

/** An account's row without its id. */
export type AccountFields = {
  name: string
  status: 'active' | 'suspended'
  homeCountry: string
  currency: string
  phoneNumber: string | null
  phoneVerified: boolean
  /** Minutes of the day; both null for no quiet hours. */
  quietStart: number | null
  quietEnd: number | null
  /** Null for the defaults. */
  verification: Partial<VerificationSettings> | null
  planName: string
  planStatus: 'active' | 'inactive'
  allowsScheduling: boolean
  bulkCeilingPerSecond: number
  rateLimitPerSecond: number
  verificationRateLimitPerSecond: number
}

export type PoolRow = PlanPool & { used: number; resetsAtMs: number }

/** An account with its money, in micros, and its pools. */
export type AccountRow = AccountFields & {
  id: AccountId
  wallet: { balance: number; held: number; captured: number; credited: number }
  pools: PoolRow[]
  /** The highest id that one of its pools ever had. */
  lastPoolId: number
}

export type PlanRow = {
  name: string
  status: 'active' | 'inactive'
  allowsScheduling: boolean
  bulkCeilingPerSecond: number
  rateLimitPerSecond: number
  verificationRateLimitPerSecond: number
}

const FIELDS = `a.name, a.status, a.home_country as "homeCountry", a.currency,
  a.phone_number as "phoneNumber", a.phone_verified as "phoneVerified",
  a.quiet_start as "quietStart", a.quiet_end as "quietEnd", a.verification,
  a.plan_name as "planName", a.plan_status as "planStatus", a.allows_scheduling as "allowsScheduling",
  a.bulk_ceiling_per_second as "bulkCeilingPerSecond", a.rate_limit_per_second as "rateLimitPerSecond",
  a.verification_rate_limit_per_second as "verificationRateLimitPerSecond"`

const POOLS = `coalesce((
  select json_agg(json_build_object('id', p.id, 'channels', p.channels, 'limit', p.included, 'used', p.used,
                                    'resetsAtMs', (extract(epoch from p.resets_at) * 1000)::bigint) order by p.id)
    from pools p where p.account_id = a.id), '[]') as pools`

const ACCOUNT_QUERY = `select a.id as uuid, ${FIELDS}, ${POOLS}, a.last_pool as "lastPoolId",
    json_build_object('balance', w.balance, 'held', w.held, 'captured', w.captured, 'credited', w.credited) as wallet
  from accounts a join wallets w on w.account_id = a.id`

type AccountQueryRow = Omit<AccountRow, 'id'> & { uuid: string }

/** The plan with this name, else the plan `default`, which a migration creates. */
export async function selectPlan(db: Db, name: string): Promise<PlanRow> {
  const { rows } = await db.query<PlanRow>({
    name: 'plan_by_name',
    text: `select name, status, allows_scheduling as "allowsScheduling",
        bulk_ceiling_per_second as "bulkCeilingPerSecond", rate_limit_per_second as "rateLimitPerSecond",
        verification_rate_limit_per_second as "verificationRateLimitPerSecond"
      from plans where name in ($1, 'default') order by name = $1 desc limit 1`,
    values: [name],
  })
  return rows[0]!
}

export async function insertAccount(db: Db, id: AccountId, fields: AccountFields): Promise<void> {
  await db.query({
    name: 'account_insert',
    text: `insert into accounts (id, name, status, home_country, currency, phone_number, phone_verified, plan_name,
        plan_status, allows_scheduling, bulk_ceiling_per_second, rate_limit_per_second,
        verification_rate_limit_per_second, quiet_start, quiet_end, verification)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [toUuid(id), ...fieldValues(fields)],
  })
}

/** An operator's idempotency key, and the hash of its request. */
export type AccountRequest = { key: string; bodyHash: Buffer }

/** Claims an idempotency key for a new account; if it is taken, rejects with an error that `isAccountKeyTaken` knows. */
export async function insertAccountRequest(db: Db, request: AccountRequest, id: AccountId): Promise<void> {
  await db.query({
    name: 'account_request_insert',
    text: 'insert into account_requests (idempotency_key, body_hash, account_id) values ($1, $2, $3)',
    values: [request.key, request.bodyHash, toUuid(id)],
  })
}

/** Whether the idempotency key was taken by an earlier request; the failed transaction stored nothing. */
export function isAccountKeyTaken(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === 'account_requests_pkey'
}

/** The account that an idempotency key created, and the hash of the request; null if the key is unused. */
export async function selectAccountRequest(
  db: Db,
  key: string,
): Promise<{ id: AccountId; bodyHash: Buffer } | null> {
  const { rows } = await db.query<{ id: string; bodyHash: Buffer }>({
    name: 'account_request_by_key',
    text: 'select account_id as id, body_hash as "bodyHash" from account_requests where idempotency_key = $1',
    values: [key],
  })
  const row = rows[0]
  return row ? { ...row, id: fromUuid('acc', row.id) } : null
}

export async function updateAccount(db: Db, id: AccountId, fields: AccountFields): Promise<void> {
  await db.query({
    name: 'account_update',
    text: `update accounts set name = $2, status = $3, home_country = $4, currency = $5, phone_number = $6,
        phone_verified = $7, plan_name = $8, plan_status = $9, allows_scheduling = $10,
        bulk_ceiling_per_second = $11, rate_limit_per_second = $12, verification_rate_limit_per_second = $13,
        quiet_start = $14, quiet_end = $15, verification = $16
      where id = $1`,
    values: [toUuid(id), ...fieldValues(fields)],
  })
}

function fieldValues(fields: AccountFields): unknown[] {
  return [
    fields.name,
    fields.status,
    fields.homeCountry,
    fields.currency,
    fields.phoneNumber,
    fields.phoneVerified,
    fields.planName,
    fields.planStatus,
    fields.allowsScheduling,
    fields.bulkCeilingPerSecond,
    fields.rateLimitPerSecond,
    fields.verificationRateLimitPerSecond,
    fields.quietStart,
    fields.quietEnd,
    fields.verification && JSON.stringify(fields.verification),
  ]
}

/**
 * Replaces the account's pools; a pool whose id stays keeps its usage and its reset. All are locked first, in
 * the order in which messages that give usage back lock them.
 */
export async function replacePools(
  db: Db,
  id: AccountId,
  pools: readonly PlanPool[],
  resetsAtMs: number,
): Promise<void> {
  const values = [
    toUuid(id),
    JSON.stringify(pools.map(pool => ({ id: pool.id, channels: pool.channels, included: pool.limit }))),
  ]
  await db.query({
    name: 'pools_lock',
    text: 'select 1 from pools where account_id = $1 order by id for update',
    values: [toUuid(id)],
  })
  await db.query({
    name: 'pools_remove',
    text: `delete from pools where account_id = $1
      and id <> all (select (value ->> 'id')::smallint from json_array_elements($2::json))`,
    values,
  })
  await db.query({
    name: 'pools_put',
    text: `insert into pools (account_id, id, channels, included, resets_at)
      select $1, p.id, array(select json_array_elements_text(p.channels)), p.included, to_timestamp($3 / 1000.0)
        from json_to_recordset($2::json) as p (id smallint, channels json, included bigint)
      on conflict (account_id, id) do update set channels = excluded.channels, included = excluded.included`,
    values: [...values, resetsAtMs],
  })
  await db.query({
    name: 'pools_note_last',
    text: `update accounts set last_pool = p.id
      from (select max(id) as id from pools where account_id = $1) p where accounts.id = $1 and p.id > last_pool`,
    values: [toUuid(id)],
  })
}

export async function selectAccount(db: Db, id: AccountId): Promise<AccountRow | null> {
  const { rows } = await db.query<AccountQueryRow>({
    name: 'account_by_id',
    text: `${ACCOUNT_QUERY} where a.id = $1`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The same, and holds off other changes of the account and its wallet until the transaction ends. */
export async function selectAccountForUpdate(tx: Db, id: AccountId): Promise<AccountRow | null> {
  // A statement that waits for the lock would read the pools as they were before it waited.
  await lockAccount(tx, id)
  const { rows } = await tx.query<AccountQueryRow>({
    name: 'account_lock',
    text: `${ACCOUNT_QUERY} where a.id = $1 for no key update of a, w`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/**
 * The newest first; `before` is the last id of the previous page. With `of.text` only accounts whose name
 * contains it, in whatever case; with `of.id` also the one with this id.
 */
export async function listAccounts(
  db: Db,
  of: { id: AccountId | null; text: string | null },
  before: AccountId | null,
  limit: number,
): Promise<AccountRow[]> {
  const { rows } = await db.query<AccountQueryRow>({
    name: 'accounts_list',
    text: `${ACCOUNT_QUERY}
      where ($1::uuid is null or a.id < $1)
        and ($2::text is null or strpos(lower(a.name), lower($2)) > 0 or a.id = $3)
      order by a.id desc limit $4`,
    values: [before && toUuid(before), of.text, of.id && toUuid(of.id), limit],
  })
  return rows.map(toRow)
}

function toRow({ uuid, ...rest }: AccountQueryRow): AccountRow {
  return { id: fromUuid('acc', uuid), ...rest }
}

export async function accountExists(db: Db, id: AccountId): Promise<boolean> {
  const { rows } = await db.query({
    name: 'account_exists',
    text: 'select 1 from accounts where id = $1',
    values: [toUuid(id)],
  })
  return rows.length > 0
}

/** Until the transaction ends, serializes changes of what an account has one of, such as its default sender. */
export async function lockAccount(db: Db, id: AccountId): Promise<void> {
  await db.query({
    name: 'account_take_turns',
    text: 'select 1 from accounts where id = $1 for no key update',
    values: [toUuid(id)],
  })
}

/** What the hot path needs of an account; the caller adds the revision. */
export async function selectSnapshot(
  db: Db,
  id: AccountId,
): Promise<Omit<AccountSnapshot, 'revision'> | null> {
  const { rows } = await db.query<AccountFields & { pools: PlanPool[] }>({
    name: 'account_snapshot',
    text: `select ${FIELDS}, coalesce((
          select json_agg(json_build_object('id', p.id, 'channels', p.channels, 'limit', p.included) order by p.id)
            from pools p where p.account_id = a.id), '[]') as pools
        from accounts a where a.id = $1`,
    values: [toUuid(id)],
  })
  const row = rows[0]
  if (!row) return null
  return {
    id,
    name: row.name,
    status: row.status,
    homeCountry: row.homeCountry,
    currency: row.currency,
    phone: { number: row.phoneNumber, verified: row.phoneVerified },
    quietHours:
      row.quietStart === null || row.quietEnd === null
        ? null
        : { startMinute: row.quietStart, endMinute: row.quietEnd },
    verification: verificationOf(row),
    plan: {
      name: row.planName,
      status: row.planStatus,
      allowsScheduling: row.allowsScheduling,
      bulkCeilingPerSecond: row.bulkCeilingPerSecond,
      rateLimitPerSecond: row.rateLimitPerSecond,
      verificationRateLimitPerSecond: row.verificationRateLimitPerSecond,
      pools: row.pools,
    },
  }
}

/** The defaults of an account's verification settings. */
export const DEFAULT_VERIFICATION: VerificationSettings = {
  codeLength: 6,
  validityMinutes: 10,
  channels: [],
  templateId: null,
  channelOrder: 'policy',
  trialPercent: 5,
}

/** The settings in effect: those that the account has set, and the defaults of the others. */
export function verificationOf({ verification }: Pick<AccountFields, 'verification'>): VerificationSettings {
  return { ...DEFAULT_VERIFICATION, ...verification }
}

/** The key of an advisory lock, an arbitrary constant: nodes that start together seed one after the other. */
const SEED_LOCK = 7_068_101

/** Held until the transaction ends. */
export async function lockSeed(db: Db): Promise<void> {
  await db.query({ name: 'seed_lock', text: 'select pg_advisory_xact_lock($1)', values: [SEED_LOCK] })
}

/** Whether the database has no accounts, prices, connections or SMS senders yet. */
export async function isEmptyStore(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ empty: boolean }>({
    name: 'store_is_empty',
    text: `select not exists (select from accounts) and not exists (select from prices)
      and not exists (select from connections) and not exists (select from sms_senders) as empty`,
  })
  return rows[0]!.empty
}

import type { TemplateStatus, TemplateSubType } from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, toUuid } from '../../lib/ids.ts'
import type { ReviewState, TemplateId } from './store.ts'

/** An official template, for applying a provider's report. */
export type OfficialRow = {
  id: TemplateId
  accountId: AccountId
  name: string
  language: string
  category: 'chatapp'
  subType: TemplateSubType
  status: TemplateStatus
  connectionId: ConnectionId
  providerName: string
  providerTemplateId: string | null
  /** It was bound to an existing template by its id. */
  manual: boolean
}

type Stored = Omit<OfficialRow, 'id' | 'accountId' | 'connectionId'> & {
  uuid: string
  accountUuid: string
  connectionUuid: string
}

const COLUMNS = `t.id as uuid, t.account_id as "accountUuid", t.name, t.language, t.category, t.sub_type as "subType", t.status,
  t.connection_id as "connectionUuid", t.provider_name as "providerName",
  t.provider_template_id as "providerTemplateId", (t.spec ->> 'manual')::boolean as manual`

/** The templates of a connection with this name and language; several if accounts share a sandbox. */
export async function selectOfficial(
  db: Db,
  connectionId: ConnectionId,
  providerName: string,
  language: string,
): Promise<OfficialRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'templates_official',
    text: `select ${COLUMNS} from templates t
      where connection_id = $1 and provider_name = $2 and language = $3 order by account_id, id`,
    values: [toUuid(connectionId), providerName, language],
  })
  return rows.map(toRow)
}

/**
 * Stores a provider's report on a template that this transaction has locked, which is polled by `checkByMs` at the latest.
 * Writes all columns even if only one changed: nodes are notified of updates that set the status.
 */
export async function updateOfficial(
  db: Db,
  row: Pick<OfficialRow, 'accountId' | 'id'>,
  { status, reason, subType }: ReviewState,
  providerTemplateId: string,
  checkByMs: number | null,
): Promise<void> {
  await db.query({
    name: 'template_move_official',
    text: `update templates set status = $3, reason = $4, sub_type = $5,
        provider_template_id = coalesce(provider_template_id, nullif($6, '')), next_check_at = least(next_check_at, $7)
      where account_id = $1 and id = $2`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      status,
      reason,
      subType,
      providerTemplateId,
      checkByMs && toIso(checkByMs),
    ],
  })
}

/**
 * Claims templates whose poll is due, the longest overdue first. No other node polls
 * them until `untilMs`, so if this node dies, others do it after that.
 */
export async function claimChecks(
  db: Db,
  nowMs: number,
  untilMs: number,
  limit: number,
): Promise<OfficialRow[]> {
  const { rows } = await db.query<Stored>({
    name: 'templates_claim_checks',
    text: `with due as materialized (
        select account_id, id from templates where next_check_at <= $1
         order by next_check_at limit $3 for update skip locked
      )
      update templates t set next_check_at = $2 from due
       where t.account_id = due.account_id and t.id = due.id
      returning ${COLUMNS}`,
    values: [toIso(nowMs), toIso(untilMs), limit],
  })
  return rows.map(toRow)
}

/**
 * Stores the time of a poll that was claimed `untilMs`, and of the next one; what a report has set meanwhile stays if it is
 * earlier, since the poll may not have seen what the report is about. `atMs` is null if the provider did not answer.
 */
export async function finishCheck(
  db: Db,
  row: Pick<OfficialRow, 'accountId' | 'id'>,
  untilMs: number,
  atMs: number | null,
  nextAtMs: number,
): Promise<void> {
  await db.query({
    name: 'template_checked',
    text: `update templates set last_checked_at = coalesce($3, last_checked_at),
        next_check_at = case when next_check_at = $5 then $4 else least(next_check_at, $4) end
      where account_id = $1 and id = $2`,
    values: [toUuid(row.accountId), toUuid(row.id), atMs && toIso(atMs), toIso(nextAtMs), toIso(untilMs)],
  })
}

/**
 * Plans no poll of a connection's templates before `untilMs`. Skips rows that are locked, which are polled again at
 * their own time, so that two nodes cannot deadlock.
 */
export async function postponeChecks(db: Db, connectionId: ConnectionId, untilMs: number): Promise<void> {
  await db.query({
    name: 'templates_postpone_checks',
    text: `with early as materialized (
        select account_id, id from templates where connection_id = $1 and next_check_at < $2
         for no key update skip locked
      )
      update templates t set next_check_at = $2 from early
       where t.account_id = early.account_id and t.id = early.id`,
    values: [toUuid(connectionId), toIso(untilMs)],
  })
}

/** Makes polls due that are planned for after `lastMs`: a clock that was far ahead has planned them. Returns how many. */
export async function recallChecks(db: Db, nowMs: number, lastMs: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'templates_recall_checks',
    text: 'update templates set next_check_at = $1 where next_check_at > $2',
    values: [toIso(nowMs), toIso(lastMs)],
  })
  return rowCount ?? 0
}

/** A template's name, claimed by a request. */
export type NameClaim = { accountId: AccountId; name: string; language: string }

/** Claims a name for a request; false while another request has it. Claims from before `expiredBeforeMs` have expired. */
export async function claimName(
  db: Db,
  claim: NameClaim,
  nowMs: number,
  expiredBeforeMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'template_claim',
    text: `insert into template_claims as c (account_id, name, language, claimed_at) values ($1, $2, $3, $4)
      on conflict (account_id, name, language) do update set claimed_at = excluded.claimed_at
        where c.claimed_at < $5`,
    values: [toUuid(claim.accountId), claim.name, claim.language, toIso(nowMs), toIso(expiredBeforeMs)],
  })
  return rowCount === 1
}

/** Releases the claim that was made at `claimedAtMs`; a later claim of another request stays. */
export async function releaseName(db: Db, claim: NameClaim, claimedAtMs: number): Promise<void> {
  await db.query({
    name: 'template_release_name',
    text: 'delete from template_claims where account_id = $1 and name = $2 and language = $3 and claimed_at = $4',
    values: [toUuid(claim.accountId), claim.name, claim.language, toIso(claimedAtMs)],
  })
}

/** Deletes expired claims, whose requests died with their node. */
export async function sweepNameClaims(db: Db, expiredBeforeMs: number): Promise<void> {
  await db.query({
    name: 'template_claims_sweep',
    text: 'delete from template_claims where claimed_at < $1',
    values: [toIso(expiredBeforeMs)],
  })
}

function toRow({ uuid, accountUuid, connectionUuid, ...rest }: Stored): OfficialRow {
  return {
    id: fromUuid('tpl', uuid),
    accountId: fromUuid('acc', accountUuid),
    connectionId: fromUuid('cnn', connectionUuid),
    ...rest,
  }
}

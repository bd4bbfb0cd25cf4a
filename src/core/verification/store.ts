import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { boolArray, byteaArray, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import {
  type AccountId,
  firstUuidAt,
  fromUuid,
  type Id,
  type MessageId,
  timeOf,
  toUuid,
} from '../../lib/ids.ts'
import { HOT_TIMEOUT_MS } from '../messages/hot-store.ts'
import { someNodeRunsSince } from '../outbox/node-store.ts'
import type { VerificationId } from './codes.ts'
import type { StoredRequest } from './request.ts'

/** A verification as its row has it; times in ms since the epoch. */
export type VerificationRow = {
  id: VerificationId
  live: boolean
  status: 'pending' | 'verified' | 'exhausted' | 'failed'
  /** No later one has superseded it. */
  current: boolean
  tries: number
  resends: number
  validityMinutes: number
  recipient: string
  recipientKey: string
  country: string | null
  channel: Channel
  startedAt: number
  expiresAt: number
  resendAt: number
  verifiedAt: number | null
  /** What the sender chose. */
  request: StoredRequest | null
  messages: MessageId[]
  /** How many of these came with the start. */
  startedWith: number
}

type Raw = {
  id: string
  live: boolean
  status: VerificationRow['status']
  current: boolean
  tries: number
  resends: number
  validity_minutes: number
  recipient: string
  recipient_key: string
  country: string | null
  channel: Channel
  started_at: Date
  expires_at: Date
  resend_at: Date
  verified_at: Date | null
  request: StoredRequest | null
  messages: string[]
  started_with: number
}

/**
 * A verification is superseded by any that was accepted after it for its recipient, unless every channel refused that.
 * `is not distinct from` keeps the planner off the account's index: on an empty table all that an account has looks
 * as cheap to read as what its recipient has.
 */
export const SUPERSEDING = `select 1 from verifications x where x.account_id is not distinct from v.account_id and x.live = v.live
  and x.recipient_key = v.recipient_key and x.accept_no > v.accept_no and x.status <> 'failed'`
/** Months are ranges of ids: without bounds each read would open all that are stored. */
const CURRENT = `not exists (${SUPERSEDING} and in_months(x.id, $1, $2)) as current`
const COLUMNS = `v.id, v.live, v.status, ${CURRENT}, v.tries, v.resends, v.validity_minutes,
  v.recipient, v.recipient_key, v.country, coalesce(m.channel, v.channel) as channel, v.started_at, v.expires_at, v.resend_at, v.verified_at,
  v.request, v.messages, v.started_with`
/** The code may be on another channel than it was accepted for. */
const CARRIER = 'left join lateral carrier_of(v.account_id, v.messages, v.message_id) m on true'

/** Clocks of nodes differ by less: nothing that was accepted later has an id this much older. */
const CLOCKS_DIFFER_MS = DAY_MS

export async function readVerification(
  db: Db,
  accountId: AccountId,
  id: VerificationId,
  nowMs: number,
): Promise<VerificationRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'verification_by_id',
    text: `select ${COLUMNS} from verifications v ${CARRIER}
            where v.account_id = $3 and v.id = $4`,
    values: [
      firstUuidAt(timeOf(id) - CLOCKS_DIFFER_MS),
      firstUuidAt(nowMs + CLOCKS_DIFFER_MS),
      toUuid(accountId),
      toUuid(id),
    ],
  })
  return rows[0] ? toRow(rows[0]) : null
}

type RecipientOf = { accountId: AccountId; live: boolean; recipientKey: string }

/** The current verification of a recipient; nearly always it is less than a day old. */
export async function readVerificationOf(
  db: Db,
  owner: RecipientOf,
  nowMs: number,
): Promise<VerificationRow | null> {
  return (await findLast(db, owner, nowMs - DAY_MS, nowMs)) ?? (await findLast(db, owner, 0, nowMs))
}

async function findLast(
  db: Db,
  owner: RecipientOf,
  sinceMs: number,
  nowMs: number,
): Promise<VerificationRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'verification_by_recipient',
    text: `select ${COLUMNS} from (
             select * from verifications x
              where x.account_id is not distinct from $3 and x.live = $4 and x.recipient_key = $5 and x.status <> 'failed'
                and in_months(x.id, $1, $2)
              order by x.accept_no desc limit 1) v ${CARRIER}`,
    values: [
      firstUuidAt(sinceMs),
      firstUuidAt(nowMs + CLOCKS_DIFFER_MS),
      toUuid(owner.accountId),
      owner.live,
      owner.recipientKey,
    ],
  })
  return rows[0] ? toRow(rows[0]) : null
}

function toRow(raw: Raw): VerificationRow {
  return {
    id: fromUuid('ver', raw.id),
    live: raw.live,
    status: raw.status,
    current: raw.current,
    tries: raw.tries,
    resends: raw.resends,
    validityMinutes: raw.validity_minutes,
    recipient: raw.recipient,
    recipientKey: raw.recipient_key,
    country: raw.country,
    channel: raw.channel,
    startedAt: raw.started_at.getTime(),
    expiresAt: raw.expires_at.getTime(),
    resendAt: raw.resend_at.getTime(),
    verifiedAt: raw.verified_at?.getTime() ?? null,
    request: raw.request,
    messages: raw.messages.map(uuid => fromUuid('msg', uuid)),
    startedWith: raw.started_with,
  }
}

/** Those of a verification's messages that were accepted, in their order. */
export async function selectAccepted(
  db: Db,
  accountId: AccountId,
  ids: readonly MessageId[],
): Promise<MessageId[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'verification_accepted_messages',
    text: `select k.id from unnest($2::uuid[]) with ordinality as k (id, n)
            where exists (select 1 from messages m where m.account_id = $1 and m.id = k.id) order by k.n`,
    values: [toUuid(accountId), uuidArray(ids, id => id)],
  })
  return rows.map(({ id }) => fromUuid('msg', id))
}

/** One code to be checked. */
export type CheckRow = {
  accountId: AccountId
  live: boolean
  /** Null where the recipient alone is named. */
  id: VerificationId | null
  recipientKey: string | null
  codeDigest: Buffer
  checkId: Id<'req'>
}

export type CheckVerdict = {
  kind: 'right' | 'wrong' | 'used' | 'expired' | 'exhausted' | 'missing' | 'disagrees' | 'later'
  id: VerificationId | null
  tries: number
  /** In ms since the epoch. */
  expiresAt: number
  verifiedAt: number
  /** Null where there is no such verification. */
  recipient: string | null
  country: string | null
}

/** Checks codes in one transaction; repeated with the same check ids it recognises its own. Verdicts in the order of the rows. */
export async function checkCodes(db: Db, nowMs: number, rows: readonly CheckRow[]): Promise<CheckVerdict[]> {
  const { rows: found } = await db.query<{
    item: number
    verdict: CheckVerdict['kind']
    verification_id: string | null
    tries: number | null
    expires_at: Date | null
    verified_at: Date | null
    recipient: string | null
    country: string | null
  }>({
    name: 'check_codes',
    text: 'select * from check_codes($1,$2,$3,$4,$5,$6,$7)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      toIso(nowMs),
      uuidArray(rows, row => row.accountId),
      boolArray(rows, row => row.live),
      uuidArray(rows, row => row.id),
      textArray(rows, row => row.recipientKey),
      byteaArray(rows, row => row.codeDigest),
      uuidArray(rows, row => row.checkId),
    ],
  })
  const verdicts: CheckVerdict[] = []
  for (const row of found) {
    verdicts[row.item - 1] = {
      kind: row.verdict,
      id: row.verification_id === null ? null : fromUuid('ver', row.verification_id),
      tries: row.tries ?? 0,
      expiresAt: row.expires_at?.getTime() ?? 0,
      verifiedAt: row.verified_at?.getTime() ?? 0,
      recipient: row.recipient,
      country: row.country,
    }
  }
  return verdicts
}

/** Whether a request may still be in progress on one of the messages that a verification started with. */
export async function startIsPending(
  db: Db,
  accountId: AccountId,
  id: VerificationId,
  startedMs: number,
): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>({
    name: 'verification_is_pending',
    text: `select ${someNodeRunsSince('$3')} and exists (
               select 1 from unnest(v.messages[1:v.started_with]) as i (id)
                 left join messages m on m.account_id = v.account_id and m.id = i.id
                where m.answer is null) as pending
             from verifications v where v.account_id = $1 and v.id = $2`,
    values: [toUuid(accountId), toUuid(id), toIso(startedMs)],
  })
  return rows[0]?.pending ?? false
}

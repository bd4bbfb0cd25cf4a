import type { Channel } from '../../contract/enums.ts'
import type { SuppressionSource } from '../../contract/suppression.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type Id, LAST_UUID, toUuid } from '../../lib/ids.ts'
import { PLATFORM, PLATFORM_UUID } from '../accounts/platform.ts'

export type SuppressionId = Id<'sup'>

export type SuppressionRow = {
  /** `PLATFORM` for an opt-out that was sent to a number that accounts share. */
  accountId: AccountId
  id: SuppressionId
  /** The address as it is shown. */
  recipient: string
  /** The address as it is compared: see `addressKeyOf`. */
  key: string
  /** Null for every channel. */
  channel: Channel | null
  /** Only in `PLATFORM` rows: the suppression holds for messages by this connection's own sender. */
  connectionId: ConnectionId | null
  source: SuppressionSource
  reason: string | null
}

type Raw = {
  account_id: string
  id: string
  recipient: string
  recipient_key: string
  channel: string
  connection_id: string | null
  source: SuppressionSource
  reason: string | null
}

const COLUMNS =
  's.account_id, s.id, s.recipient, s.recipient_key, s.channel, s.connection_id, s.source, s.reason'
const EVERY_CHANNEL = '*'

/** Stores suppressions that do not exist yet; returns the new ones. In the order of their keys, so that concurrent calls do not deadlock. */
export async function insertSuppressions(db: Db, rows: readonly SuppressionRow[]): Promise<SuppressionRow[]> {
  const { rows: made } = await db.query<Raw>({
    name: 'suppressions_insert',
    text: `insert into suppressions as s (account_id, id, recipient, recipient_key, channel, connection_id, source, reason)
           select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::text[])
             as i (account_id, id, recipient, recipient_key, channel, connection_id, source, reason)
            order by account_id, recipient_key, channel, connection_id
           on conflict do nothing returning ${COLUMNS}`,
    values: [
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      textArray(rows, row => row.recipient),
      textArray(rows, row => row.key),
      textArray(rows, row => row.channel ?? EVERY_CHANNEL),
      uuidArray(rows, row => row.connectionId),
      textArray(rows, row => row.source),
      textArray(rows, row => row.reason),
    ],
  })
  return made.map(toRow)
}

/** The account's suppression for exactly this recipient and channel. */
export async function selectSuppression(
  db: Db,
  { accountId, key, channel }: Pick<SuppressionRow, 'accountId' | 'key' | 'channel'>,
): Promise<SuppressionRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'suppression_by_key',
    text: `select ${COLUMNS} from suppressions s
            where s.account_id = $1 and s.recipient_key = $2 and s.channel = $3 and s.connection_id is null`,
    values: [toUuid(accountId), key, channel ?? EVERY_CHANNEL],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The newest first; `before` is the last id of the page before. */
export async function listSuppressions(
  db: Db,
  accountId: AccountId,
  filter: { key?: string; channel?: Channel },
  before: SuppressionId | null,
  limit: number,
): Promise<SuppressionRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'suppressions_list',
    text: `select ${COLUMNS} from list_suppressions($1,$2,$3,$4,$5) s`,
    values: [
      toUuid(accountId),
      filter.key ?? null,
      filter.channel ?? null,
      before === null ? LAST_UUID : toUuid(before),
      limit,
    ],
  })
  return rows.map(toRow)
}

/** Null when the account has none of this id. */
export async function deleteSuppression(
  db: Db,
  accountId: AccountId,
  id: SuppressionId,
): Promise<SuppressionRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'suppression_delete',
    text: `delete from suppressions s where s.account_id = $1 and s.id = $2 returning ${COLUMNS}`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/**
 * Deletes suppressions by recipients and providers on these channels, not those made by the API; returns the deleted rows. Locks
 * them in the order of `insertSuppressions`.
 */
export async function deleteByRecipient(
  db: Db,
  items: readonly Pick<SuppressionRow, 'accountId' | 'key' | 'channel' | 'connectionId'>[],
): Promise<SuppressionRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'suppressions_delete_by_recipient',
    text: `select ${COLUMNS} from delete_suppressions($1,$2,$3,$4) s`,
    values: [
      uuidArray(items, item => item.accountId),
      textArray(items, item => item.key),
      textArray(items, item => item.channel ?? EVERY_CHANNEL),
      uuidArray(items, item => item.connectionId),
    ],
  })
  return rows.map(toRow)
}

/** A recipient, with the account and the sender of a message to them. */
export type SuppressionLookup = {
  accountId: AccountId
  key: string
  connectionId: ConnectionId
  /** The sender in the message; null for the connection's own sender. */
  sender: string | null
}

/**
 * The channels on which each of these recipients is suppressed, null for every channel;
 * one query for all recipients. An opt-out that was sent to a shared number applies unless
 * the message uses a sender of the account's own.
 */
export async function findSuppressed(
  db: Db,
  asked: readonly SuppressionLookup[],
): Promise<(Channel | null)[][]> {
  const { rows } = await db.query<{ item: number; channel: string }>({
    name: 'find_suppressed',
    text: 'select * from find_suppressed($1,$2,$3,$4)',
    values: [
      uuidArray(asked, each => each.accountId),
      textArray(asked, each => each.key),
      uuidArray(asked, each => each.connectionId),
      textArray(asked, each => each.sender),
    ],
  })
  const found: (Channel | null)[][] = asked.map(() => [])
  for (const { item, channel } of rows) found[item - 1]!.push(channelOf(channel))
  return found
}

/** A provider's report that the recipient of a message has opted out. */
export type OptOutReport = { connectionId: ConnectionId; providerId: string; providerCode: string | null }

/** The message of such a report. */
export type ReportedMessage = {
  accountId: AccountId
  connectionId: ConnectionId
  channel: Channel
  recipient: string
  sender: string | null
  providerCode: string | null
}

/**
 * Parks reports until their messages are known. All reports are parked: looking for their messages
 * first would miss a message whose submit is being answered at this moment.
 */
export async function parkOptOuts(db: Db, nowMs: number, reports: readonly OptOutReport[]): Promise<void> {
  await db.query({
    name: 'park_opt_outs',
    text: `insert into parked_opt_outs (connection_id, provider_id, provider_code, received_at)
             select distinct on (connection_id, provider_id) connection_id, provider_id, provider_code, $4
               from unnest($1::uuid[], $2::text[], $3::text[]) as i (connection_id, provider_id, provider_code)
              order by connection_id, provider_id
           on conflict do nothing`,
    values: [
      uuidArray(reports, report => report.connectionId),
      textArray(reports, report => report.providerId),
      textArray(reports, report => report.providerCode),
      toIso(nowMs),
    ],
  })
}

/** Takes out the parked reports whose messages are known now, at most `limit`. */
export async function takeParkedOptOuts(db: Db, limit: number): Promise<ReportedMessage[]> {
  const { rows } = await db.query<{
    account_id: string
    connection_id: string
    channel: Channel
    recipient: string
    sender: string | null
    provider_code: string | null
  }>({
    name: 'take_parked_opt_outs',
    text: `with known as materialized (
             select p.connection_id, p.provider_id, r.account_id, r.message_id from parked_opt_outs p
               join provider_refs r on r.connection_id = p.connection_id and r.provider_id = p.provider_id
              limit $1 for update of p skip locked),
           gone as (
             delete from parked_opt_outs p using known k
              where p.connection_id = k.connection_id and p.provider_id = k.provider_id
             returning p.connection_id, p.provider_code, k.account_id, k.message_id)
           select g.account_id, g.connection_id, g.provider_code, m.channel, m.recipient, m.sender
             from gone g join messages m on m.account_id = g.account_id and m.id = any (just(g.message_id))`,
    values: [limit],
  })
  return rows.map(({ account_id, connection_id, provider_code, ...row }) => ({
    ...row,
    accountId: fromUuid('acc', account_id),
    connectionId: fromUuid('cnn', connection_id),
    providerCode: provider_code,
  }))
}

/** Deletes parked reports that never matched a message. */
export async function sweepParkedOptOuts(db: Db, receivedBeforeMs: number): Promise<void> {
  await db.query({
    name: 'sweep_parked_opt_outs',
    text: 'delete from parked_opt_outs where received_at < $1',
    values: [toIso(receivedBeforeMs)],
  })
}

/** The owner of a number; `homeCountry` is null for the platform. */
export type Owner = {
  accountId: AccountId
  homeCountry: string | null
  /** The account owns the connection, not only a number on a shared one. */
  ownsConnection: boolean
}

/** A number on a connection; `sentBy` is the account that sent a message from it, where that is known. */
export type OwnedNumber = { connectionId: ConnectionId; number: string | null; sentBy?: AccountId }

/**
 * The owners of these numbers: the owner of the connection, else the account that sent from the number, if it
 * is one of its approved senders, else the only account that has it as its approved sender; else the platform.
 */
export async function findOwners(db: Db, numbers: readonly OwnedNumber[]): Promise<Owner[]> {
  const { rows } = await db.query<{ n: number; account_id: string; home_country: string; owns: boolean }>({
    name: 'number_owners',
    text: `select i.n::integer, a.id as account_id, a.home_country, a.id = c.account_id as owns
             from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as i (connection_id, number, sent_by, n)
             left join connections c on c.id = i.connection_id
             left join lateral (
               -- A name that several have, the platform among them, tells nobody apart by itself.
               select coalesce(min(s.account_id::text) filter (where s.account_id = i.sent_by),
                               case when count(*) = 1 then min(s.account_id::text) end)::uuid as account_id
                 from sms_senders s where s.name = i.number and s.status = 'approved') o on true
             join accounts a on a.id = case when c.account_id <> '${PLATFORM_UUID}' then c.account_id else o.account_id end`,
    values: [
      uuidArray(numbers, each => each.connectionId),
      textArray(numbers, each => each.number?.replace(/^\+/, '') ?? null),
      uuidArray(numbers, each => each.sentBy ?? null),
    ],
  })
  const owners = new Map(
    rows.map(({ n, account_id, home_country, owns }) => [
      n,
      { accountId: fromUuid('acc', account_id), homeCountry: home_country, ownsConnection: owns },
    ]),
  )
  return numbers.map((_, at) => owners.get(at + 1) ?? NO_OWNER)
}

const NO_OWNER: Owner = { accountId: PLATFORM, homeCountry: null, ownsConnection: false }

function channelOf(stored: string): Channel | null {
  return stored === EVERY_CHANNEL ? null : (stored as Channel)
}

function toRow(raw: Raw): SuppressionRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('sup', raw.id),
    recipient: raw.recipient,
    key: raw.recipient_key,
    channel: channelOf(raw.channel),
    connectionId: raw.connection_id === null ? null : fromUuid('cnn', raw.connection_id),
    source: raw.source,
    reason: raw.reason,
  }
}

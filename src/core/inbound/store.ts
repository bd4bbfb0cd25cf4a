import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, textArray, timeArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, firstUuidAt, fromUuid, type Id, toUuid } from '../../lib/ids.ts'
import type { Keyword } from '../consent/keywords.ts'

export type InboundId = Id<'inb'>

export type InboundRow = {
  /** `PLATFORM` where the number is nobody's, or several accounts'. */
  accountId: AccountId
  id: InboundId
  connectionId: ConnectionId
  provider: string
  /** The provider's id of it. */
  providerId: string
  channel: Channel
  from: string
  to: string
  text: string | null
  button: string | null
  keyword: Keyword | null
  sentAtMs: number | null
}

type Raw = {
  account_id: string
  id: string
  connection_id: string
  provider: string
  provider_id: string
  channel: Channel
  sender: string
  recipient: string
  body: string | null
  button: string | null
  keyword: Keyword | null
  sent_at: Date | null
}

/** Nobody waits for it. */
const SWEEP_TIMEOUT_MS = 60_000

/** Which of these nobody has told before, by their places; in the order of their keys, so that two who do never wait in a circle. */
export async function claimRefs(
  db: Db,
  nowMs: number,
  refs: readonly { connectionId: ConnectionId; providerId: string }[],
): Promise<Set<number>> {
  const { rows } = await db.query<{ connection_id: string; provider_id: string }>({
    name: 'inbound_claim_refs',
    text: `insert into inbound_refs (connection_id, provider_id, received_at)
           select distinct i.connection_id, i.provider_id, $3::timestamptz
             from unnest($1::uuid[], $2::text[]) as i (connection_id, provider_id)
            order by i.connection_id, i.provider_id
           on conflict do nothing returning connection_id, provider_id`,
    values: [
      bareArray(refs.map(ref => toUuid(ref.connectionId))),
      textArray(refs.map(ref => ref.providerId)),
      toIso(nowMs),
    ],
  })
  const fresh = new Set(rows.map(row => `${fromUuid('cnn', row.connection_id)} ${row.provider_id}`))
  // Of two of the same call the first is the new one.
  const places = refs.flatMap((ref, at) =>
    fresh.delete(`${ref.connectionId} ${ref.providerId}`) ? [at] : [],
  )
  return new Set(places)
}

export async function insertInbound(db: Db, rows: readonly InboundRow[]): Promise<void> {
  await db.query({
    name: 'inbound_insert',
    text: `insert into inbound_messages
             (account_id, id, connection_id, provider, provider_id, channel, sender, recipient, body, button, keyword, sent_at)
           select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
                                $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[])`,
    values: [
      bareArray(rows.map(row => toUuid(row.accountId))),
      bareArray(rows.map(row => toUuid(row.id))),
      bareArray(rows.map(row => toUuid(row.connectionId))),
      textArray(rows.map(row => row.provider)),
      textArray(rows.map(row => row.providerId)),
      bareArray(rows.map(row => row.channel)),
      textArray(rows.map(row => row.from)),
      textArray(rows.map(row => row.to)),
      textArray(rows.map(row => row.text)),
      textArray(rows.map(row => row.button)),
      bareArray(rows.map(row => row.keyword)),
      timeArray(rows.map(row => row.sentAtMs)),
    ],
  })
}

export type InboundFilter = {
  from?: string
  channel?: Channel
  createdAfterMs?: number
  createdBeforeMs?: number
}

/** The newest first; `before` is the last id of the page before. */
export async function listInbound(
  db: Db,
  accountId: AccountId,
  { from, channel, createdAfterMs, createdBeforeMs }: InboundFilter,
  before: InboundId | null,
  limit: number,
): Promise<InboundRow[]> {
  const values: unknown[] = [toUuid(accountId), limit]
  const wheres = ['account_id = $1']
  if (before !== null) wheres.push(`id < $${values.push(toUuid(before))}`)
  if (from !== undefined) wheres.push(`sender = $${values.push(from)}`)
  if (channel !== undefined) wheres.push(`channel = $${values.push(channel)}`)
  if (createdAfterMs !== undefined) wheres.push(`id >= $${values.push(firstUuidAt(createdAfterMs + 1))}`)
  if (createdBeforeMs !== undefined) wheres.push(`id < $${values.push(firstUuidAt(createdBeforeMs))}`)
  const filters = [before, from, channel, createdAfterMs, createdBeforeMs]
  const { rows } = await db.query<Raw>({
    // Each set of filters is a statement of its own: one for all would be planned for none.
    name: `inbound_list_${filters.map(each => (each == null ? 0 : 1)).join('')}`,
    text: `select account_id, id, connection_id, provider, provider_id, channel, sender, recipient, body, button, keyword, sent_at
             from inbound_messages where ${wheres.join(' and ')} order by id desc limit $2`,
    values,
  })
  return rows.map(toRow)
}

/** Forgets the ids of what came before a time: no provider tells it again. At most `limit`; how many. */
export async function sweepInboundRefs(db: Db, receivedBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'inbound_sweep_refs',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from inbound_refs where ctid = any (array(
             select ctid from inbound_refs where received_at < $1 limit $2))`,
    values: [toIso(receivedBeforeMs), limit],
  })
  return rowCount ?? 0
}

function toRow(raw: Raw): InboundRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('inb', raw.id),
    connectionId: fromUuid('cnn', raw.connection_id),
    provider: raw.provider,
    providerId: raw.provider_id,
    channel: raw.channel,
    from: raw.sender,
    to: raw.recipient,
    text: raw.body,
    button: raw.button,
    keyword: raw.keyword,
    sentAtMs: raw.sent_at?.getTime() ?? null,
  }
}

import type { Channel } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { boolArray, byteaArray, int2Array, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type ConnectionId, fromUuid } from '../../lib/ids.ts'
import { takeTurns } from './turns-store.ts'

/** A part of a long message that waits for the others. */
export type PartRow = {
  connectionId: ConnectionId
  provider: string
  providerId: string
  channel: Channel
  from: string
  to: string
  /** Equal for all parts of one message. */
  reference: string
  number: number
  total: number
  /** UTF-16 little-endian: a character may be cut in two. */
  body: Buffer
  /** The provider gave it no id. */
  unnamed: boolean
  receivedAtMs: number
}

type Raw = {
  connection_id: string
  provider: string
  provider_id: string
  channel: Channel
  sender: string
  recipient: string
  reference: string
  number: number
  total: number
  body: Buffer
  unnamed: boolean
  received_at: Date
}

/** The columns that are equal for all parts of one message. */
const SAME =
  'p.connection_id = w.connection_id and p.sender = w.sender and p.recipient = w.recipient and p.reference = w.reference'
const COLUMNS =
  'p.connection_id, p.provider, p.provider_id, p.channel, p.sender, p.recipient, p.reference, p.number, p.total, p.body, p.unnamed, p.received_at'

/**
 * Stores parts, and takes out the messages that are complete now.
 * A part with the same reference and number is replaced: references wrap, so it is of an older message.
 */
export async function joinParts(db: Db, parts: readonly PartRow[]): Promise<PartRow[]> {
  const keys = [
    uuidArray(parts, part => part.connectionId),
    textArray(parts, part => part.from),
    textArray(parts, part => part.to),
    textArray(parts, part => part.reference),
  ]
  // The last two parts may arrive at two nodes at once: the lock makes one of them see both.
  await takeTurns(
    db,
    'parts',
    parts.map(({ connectionId, from, to, reference }) => `${connectionId} ${from} ${to} ${reference}`),
  )
  await db.query({
    name: 'inbound_parts_put',
    text: `insert into inbound_parts
             (connection_id, sender, recipient, reference, number, total, provider, provider_id, channel, body, unnamed,
              received_at)
           select distinct on (c, s, r, e, n) c, s, r, e, n, t, p, i, ch, b, u, $12::timestamptz
             from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::smallint[], $7::text[],
                         $8::text[], $9::text[], $10::bytea[], $11::boolean[])
                    as x (c, s, r, e, n, t, p, i, ch, b, u)
            order by c, s, r, e, n
           on conflict (connection_id, sender, recipient, reference, number) do update
             set provider_id = excluded.provider_id, body = excluded.body, unnamed = excluded.unnamed,
                 received_at = excluded.received_at`,
    values: [
      ...keys,
      int2Array(parts, part => part.number),
      int2Array(parts, part => part.total),
      textArray(parts, part => part.provider),
      textArray(parts, part => part.providerId),
      textArray(parts, part => part.channel),
      byteaArray(parts, part => part.body),
      boolArray(parts, part => part.unnamed),
      toIso(Math.max(...parts.map(part => part.receivedAtMs))),
    ],
  })
  const { rows } = await db.query<Raw>({
    name: 'inbound_parts_whole',
    text: `with keys as (
             select distinct * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
               as i (connection_id, sender, recipient, reference)),
           whole as (
             select w.* from keys w join inbound_parts p on ${SAME}
              group by w.connection_id, w.sender, w.recipient, w.reference having count(*) = max(p.total))
           delete from inbound_parts p using whole w where ${SAME} returning ${COLUMNS}`,
    values: keys,
  })
  return rows.map(toRow)
}

/** Takes out incomplete messages without a new part since a time; at most `limit` of them. */
export async function takeStaleParts(db: Db, receivedBeforeMs: number, limit: number): Promise<PartRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'inbound_parts_stale',
    text: `with stale as (
             select distinct w.connection_id, w.sender, w.recipient, w.reference
               from inbound_parts w
              where w.received_at < $1 and not exists (select from inbound_parts p where ${SAME} and p.received_at >= $1)
              limit $2)
           delete from inbound_parts p using stale w where ${SAME} returning ${COLUMNS}`,
    values: [toIso(receivedBeforeMs), limit],
  })
  return rows.map(toRow)
}

function toRow(raw: Raw): PartRow {
  return {
    connectionId: fromUuid('cnn', raw.connection_id),
    provider: raw.provider,
    providerId: raw.provider_id,
    channel: raw.channel,
    from: raw.sender,
    to: raw.recipient,
    reference: raw.reference,
    number: raw.number,
    total: raw.total,
    body: raw.body,
    unnamed: raw.unnamed,
    receivedAtMs: raw.received_at.getTime(),
  }
}

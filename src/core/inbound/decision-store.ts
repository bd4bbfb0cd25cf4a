import { isSms } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type ConnectionId, firstUuidAt, fromUuid } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { InboundId, InboundRow } from './store.ts'

/** A message that was stored this long before the time at which it was sent is not looked at: clocks differ by less. */
const CLOCKS_DIFFER_MS = 3_600_000

/**
 * Those of these stored messages that the same author has followed by a keyword which was sent later, by the
 * provider's times, but arrived earlier: such a decision is outdated. Later times than now count as wrong. The caller has
 * their turns: otherwise two nodes that store both at the same moment would see neither.
 */
export async function selectOutdated(
  db: Db,
  nowMs: number,
  rows: readonly (InboundRow & { sentAtMs: number })[],
): Promise<Set<InboundId>> {
  const { rows: outdated } = await db.query<{ id: string }>({
    name: 'inbound_outdated_keywords',
    text: `select i.id
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::timestamptz[], $7::uuid[])
               as i (account_id, id, sender, channel, shared, sent_at, since)
            -- Once for each keyword, by the author's index: a join might read the whole table.
            cross join lateral (
              select from inbound_messages m
               where m.account_id = any (array[i.account_id]) and m.sender = i.sender and m.id >= i.since
                 and m.keyword is not null and m.sent_at > i.sent_at and m.sent_at <= $8
                 and case when m.channel in ('local_sms', 'int_sms') then 'sms' else m.channel end = i.channel
                 and (i.shared is null or m.connection_id = i.shared)
               limit 1) later`,
    values: [
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      textArray(rows, row => row.from),
      textArray(rows, row => (isSms(row.channel) ? 'sms' : row.channel)),
      uuidArray(rows, row => (row.accountId === PLATFORM ? row.connectionId : null)),
      timeArray(rows, row => row.sentAtMs),
      uuidArray(rows, row => fromUuid('inb', firstUuidAt(row.sentAtMs - CLOCKS_DIFFER_MS))),
      toIso(nowMs),
    ],
  })
  return new Set(outdated.map(({ id }) => fromUuid('inb', id)))
}

/**
 * Keeps the time of the latest decision of each of these people, as the age of a reference; returns the references of those whose
 * decision is not older than the one that is known. At most one decision for each reference. In the order of keys, so that two
 * nodes cannot deadlock.
 */
export async function keepLatest(
  db: Db,
  decisions: readonly { connectionId: ConnectionId; ref: string; atMs: number }[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ provider_id: string }>({
    name: 'inbound_keep_latest',
    text: `insert into inbound_refs as r (connection_id, provider_id, received_at)
           select * from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as i (connection_id, provider_id, received_at)
            order by i.connection_id, i.provider_id
           on conflict (connection_id, provider_id) do update set received_at = excluded.received_at
            where r.received_at <= excluded.received_at
           returning provider_id`,
    values: [
      uuidArray(decisions, each => each.connectionId),
      textArray(decisions, each => each.ref),
      timeArray(decisions, each => each.atMs),
    ],
  })
  return new Set(rows.map(row => row.provider_id))
}

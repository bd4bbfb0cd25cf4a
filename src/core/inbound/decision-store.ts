import { isSms } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type ConnectionId, firstUuidAt, fromUuid } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { toEventRef } from './received.ts'
import type { InboundRow } from './store.ts'

/** A message that was stored this long before the time of the decision is not looked at: clocks differ by less. */
const CLOCKS_DIFFER_MS = 3_600_000

/** A decision of a person, by a keyword or in the provider's app. */
export type DatedDecision = Pick<InboundRow, 'accountId' | 'connectionId' | 'channel' | 'from'> & {
  /** By the provider's clock. */
  atMs: number
}

/**
 * Those of these decisions that the same person has followed by one which they made later, by the provider's times, but that
 * arrived earlier: such a decision is outdated. Later times than now count as wrong. The caller has their turns: otherwise two
 * nodes that store both at the same moment would see neither.
 */
export async function selectOutdated<T extends DatedDecision>(
  db: Db,
  nowMs: number,
  decisions: readonly T[],
): Promise<Set<T>> {
  const { rows: outdated } = await db.query<{ item: number }>({
    name: 'inbound_outdated_decisions',
    text: `select i.n::integer as item
             from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[], $6::uuid[], $7::uuid[], $8::text[])
               with ordinality as i (account_id, sender, channel, shared, at, since, connection_id, ref, n)
            -- Once for each decision, by the author's index and by the key: a join might read the whole tables.
            cross join lateral (
              (select 1 from inbound_messages m
                where m.account_id = any (array[i.account_id]) and m.sender = i.sender and m.id >= i.since
                  and m.keyword is not null and m.sent_at > i.at and m.sent_at <= $9
                  and case when m.channel in ('local_sms', 'int_sms') then 'sms' else m.channel end = i.channel
                  and (i.shared is null or m.connection_id = i.shared)
                limit 1)
              union all
              (select 1 from inbound_refs r
                where r.connection_id = i.connection_id and r.provider_id = i.ref
                  and r.received_at > i.at and r.received_at <= $9
                limit 1)
              limit 1) later`,
    values: [
      uuidArray(decisions, each => each.accountId),
      textArray(decisions, each => each.from),
      textArray(decisions, each => (isSms(each.channel) ? 'sms' : each.channel)),
      uuidArray(decisions, each => (each.accountId === PLATFORM ? each.connectionId : null)),
      timeArray(decisions, each => each.atMs),
      uuidArray(decisions, each => fromUuid('inb', firstUuidAt(each.atMs - CLOCKS_DIFFER_MS))),
      uuidArray(decisions, each => each.connectionId),
      textArray(decisions, each => latestPreferenceRef(each.from)),
      toIso(nowMs),
    ],
  })
  return new Set(outdated.map(({ item }) => decisions[item - 1]!))
}

/** The reference under which the time of a person's latest decision in the provider's app is kept. */
export function latestPreferenceRef(from: string): string {
  return toEventRef(`latest preference:${from}`)
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

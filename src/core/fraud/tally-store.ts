import type { FraudRule } from '../../contract/fraud.ts'
import type { Db } from '../../infra/db.ts'
import { float8Array, int2Array, int8Array, textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { fromUuid, toUuid } from '../../lib/ids.ts'
import type { TallyRow, TallyStore } from './tallies.ts'
import { HALF_LIFE_HOURS } from './tally.ts'

type Raw = {
  account_id: string
  key: string
  at: Date
  fresh: number
  settled: number
  sends: number
  verified: number
  held_until: Date | null
  held_by: FraudRule | null
  holds: number
}

const COLUMNS =
  't.account_id, t.key, t.at, t.fresh, t.settled, t.sends, t.verified, t.held_until, t.held_by, t.holds'
/** Most tallies of an account that are loaded at its first use: those that changed last. */
const MAX_LOADED = 10_000
/** Most change records in one answer; each has up to some 2,000 tallies. */
const MAX_CHANGE_RECORDS = 10
/** Longer than consecutive look-ups overlap. */
const READ_IDS_KEPT_MS = 60_000

/** `node`: this node's number, to leave out its own changes. */
export function createTallyStore({ db, node }: { db: Db; node: () => number }): TallyStore {
  /** Change records that were read before, with their times: look-ups overlap. */
  const readIds = new Map<number, number>()

  return {
    async fold({ id, changes }, nowMs) {
      const { rows } = await db.query<Raw>({
        name: 'fold_tallies',
        text: 'select * from fold_tallies($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)',
        values: [
          id,
          node(),
          toIso(nowMs),
          HALF_LIFE_HOURS,
          uuidArray(changes, each => each.accountId),
          textArray(changes, each => each.key),
          float8Array(changes, each => each.delta.fresh),
          float8Array(changes, each => each.delta.settled),
          float8Array(changes, each => each.delta.sends),
          float8Array(changes, each => each.delta.verified),
          float8Array(changes, each => each.leak),
          timeArray(changes, each => each.delta.heldUntilMs || null),
          textArray(changes, each => each.delta.heldBy),
          int2Array(changes, each => each.delta.holds),
        ],
      })
      return rows.map(toRow)
    },

    async changes(accounts, sinceMs) {
      for (const [id, atMs] of readIds) if (atMs < (sinceMs ?? atMs) - READ_IDS_KEPT_MS) readIds.delete(id)
      const { rows: records } = await db.query<{ id: number; at: Date }>({
        name: 'fraud_words_since',
        text: `select id, at from fraud_words
                where at >= coalesce($1, now() - interval '10 s') and node <> $2 and id <> all ($3)
                order by at limit ${MAX_CHANGE_RECORDS}`,
        values: [isoOrNull(sinceMs), node(), int8Array([...readIds.keys()], id => id)],
      })
      if (records.length === 0) return { rows: [], asOfMs: sinceMs, more: false }
      const { rows } = await db.query<Raw>({
        name: 'fraud_tallies_changed',
        text: `select ${COLUMNS} from (
                 select distinct i.account_id, i.key from fraud_words w cross join unnest(w.accounts, w.keys) as i (account_id, key)
                  where w.id = any ($1::bigint[]) and i.account_id = any ($2::uuid[])) i
                 join fraud_tallies t on t.account_id = i.account_id and t.key = i.key`,
        values: [int8Array(records, ({ id }) => id), uuidArray(accounts, id => id)],
      })
      for (const { id, at } of records) readIds.set(id, at.getTime())
      return {
        rows: rows.map(toRow),
        asOfMs: records.at(-1)!.at.getTime(),
        more: records.length === MAX_CHANGE_RECORDS,
      }
    },

    async load(accountId, foldId) {
      const { rows } = await db.query<Raw & { has_fold: boolean }>({
        name: 'fraud_tallies_load',
        text: `select ${COLUMNS}, exists (select 1 from fraud_words where fold = $2) as has_fold
                 from fraud_tallies t where t.account_id = $1
                order by t.at desc limit ${MAX_LOADED}`,
        values: [toUuid(accountId), foldId],
      })
      return { rows: rows.map(toRow), hasFold: rows[0]?.has_fold ?? false }
    },
  }
}

/** Long: a sweep may have much to do, and no request waits for it. */
const SWEEP_TIMEOUT_MS = 60_000
/** 8 MB: some 40,000 tallies. */
const PAGES_AT_ONCE = 1_000

/** Deletes tallies that were not changed for so long that they have faded to nothing. */
export async function sweepTallies(db: Db, beforeMs: number, pages = PAGES_AT_ONCE): Promise<void> {
  for (let page = 0; await sweepPages(db, beforeMs, page, pages); page += pages);
}

/** Scans by physical pages: an index by age would have to be written with every send. Returns whether there are more pages. */
async function sweepPages(db: Db, beforeMs: number, fromPage: number, pages: number): Promise<boolean> {
  const { rows } = await db.query<{ more: boolean }>({
    name: 'fraud_tallies_sweep',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `with old as materialized (
             select account_id, key from fraud_tallies
              where ctid >= format('(%s,0)', $2::bigint)::tid and ctid < format('(%s,0)', $3::bigint)::tid and at < $1
                for update skip locked),
           gone as (
             delete from fraud_tallies t using old where t.account_id = old.account_id and t.key = old.key)
           select pg_relation_size('fraud_tallies') > $3::bigint * current_setting('block_size')::bigint as more`,
    values: [toIso(beforeMs), fromPage, fromPage + pages],
  })
  return rows[0]!.more
}

/**
 * Deletes change records that are old enough: a node that was away for longer reads its accounts again. Only a fold that was
 * executed, and is repeated later than that, would be added twice.
 */
export async function sweepChangeRecords(db: Db): Promise<void> {
  await db.query({
    name: 'fraud_words_sweep',
    text: `delete from fraud_words where at < now() - interval '10 minutes'`,
  })
}

function toRow(raw: Raw): TallyRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    key: raw.key,
    tally: {
      atMs: raw.at.getTime(),
      fresh: raw.fresh,
      settled: raw.settled,
      sends: raw.sends,
      verified: raw.verified,
      heldUntilMs: raw.held_until?.getTime() ?? 0,
      heldBy: raw.held_by,
      holds: raw.holds,
    },
  }
}

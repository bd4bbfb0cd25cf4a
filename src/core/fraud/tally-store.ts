import type { FraudRule } from '../../contract/fraud.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, textArray, timeArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, toUuid } from '../../lib/ids.ts'
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
  changed_at: Date
}

const COLUMNS =
  't.account_id, t.key, t.at, t.fresh, t.settled, t.sends, t.verified, t.held_until, t.held_by, t.holds, t.changed_at'
/** Of one account, when it is asked about for the first time: what was changed last. */
const MOST_LOADED = 10_000
const MOST_CHANGES = 20_000

export function createTallyStore({ db }: { db: Db }): TallyStore {
  return {
    async fold(deltas, nowMs) {
      const { rows } = await db.query<Raw>({
        name: 'fold_tallies',
        text: 'select * from fold_tallies($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)',
        values: [
          toIso(nowMs),
          HALF_LIFE_HOURS,
          bareArray(deltas.map(each => toUuid(each.accountId))),
          textArray(deltas.map(each => each.key)),
          bareArray(deltas.map(each => each.delta.fresh)),
          bareArray(deltas.map(each => each.delta.settled)),
          bareArray(deltas.map(each => each.delta.sends)),
          bareArray(deltas.map(each => each.delta.verified)),
          bareArray(deltas.map(each => each.leak)),
          timeArray(deltas.map(each => each.delta.heldUntilMs || null)),
          textArray(deltas.map(each => each.delta.heldBy)),
          bareArray(deltas.map(each => each.delta.holds)),
        ],
      })
      return rows.map(toRow)
    },

    async changes(accounts, sinceMs) {
      const { rows } = await db.query<Raw>({
        name: 'fraud_tallies_changed',
        text: `select ${COLUMNS} from unnest($1::uuid[]) as i (account_id)
                 join fraud_tallies t on t.account_id = i.account_id
                where t.changed_at > coalesce($2, now() - interval '10 s') order by t.changed_at limit ${MOST_CHANGES}`,
        values: [bareArray(accounts.map(toUuid)), sinceMs === null ? null : toIso(sinceMs)],
      })
      const asOfMs = rows.at(-1)?.changed_at.getTime() ?? sinceMs
      return { rows: rows.map(toRow), asOfMs, more: rows.length === MOST_CHANGES }
    },

    async load(accountId: AccountId) {
      const { rows } = await db.query<Raw>({
        name: 'fraud_tallies_load',
        text: `select ${COLUMNS} from fraud_tallies t where t.account_id = $1
                order by t.changed_at desc limit ${MOST_LOADED}`,
        values: [toUuid(accountId)],
      })
      return rows.map(toRow)
    },
  }
}

/** Forgets what nobody counted on for so long that nothing is left of it; how many. */
export async function sweepTallies(db: Db, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'fraud_tallies_sweep',
    text: `delete from fraud_tallies t using (
             select account_id, key from fraud_tallies where changed_at < $1
              order by account_id, key limit $2 for update skip locked) old
            where t.account_id = old.account_id and t.key = old.key`,
    values: [toIso(beforeMs), limit],
  })
  return rowCount ?? 0
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

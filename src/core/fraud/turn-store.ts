import type { Db } from '../../infra/db.ts'
import { bareArray, textArray, timeArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'
import type { Turn } from './guard.ts'

/** Whose turn, and as of when: the time of its code, in ms since the epoch. */
export type TakenTurn = { accountId: AccountId; person: string; atMs: number }

const MINUTE_MS = 60_000

/** How many parameters `turnValues` is. */
export const TURN_PLACES = 4

/** The turns of a batch as the functions take them that store codes: `p_person` and what follows it. */
export function turnValues(turns: readonly (Turn | null)[]): unknown[] {
  if (turns.every(turn => turn === null)) return [null, null, null, null]
  return [
    textArray(turns.map(turn => turn?.person ?? null)),
    bareArray(turns.map(turn => turn?.sends ?? null)),
    bareArray(turns.map(turn => turn?.windowMinutes ?? null)),
    bareArray(turns.map(turn => turn?.strict ?? null)),
  ]
}

/** When there is a turn again, in ms since the epoch: the one that is as many from the end as there may be leaves its window. */
export async function turnFreeAt(
  db: Db,
  accountId: AccountId,
  { person, sends, windowMinutes }: Turn,
  nowMs: number,
): Promise<number> {
  const { rows } = await db.query<{ sends: Date[] }>({
    name: 'turns_taken',
    text: 'select sends from fraud_recipients where account_id = $1 and recipient = $2',
    values: [toUuid(accountId), person],
  })
  const waitedFor = rows[0]?.sends.at(-sends)?.getTime() ?? nowMs
  return waitedFor + windowMinutes * MINUTE_MS
}

/** As if they had not been taken. */
export async function giveTurnsBack(db: Db, turns: readonly TakenTurn[]): Promise<void> {
  await db.query({
    name: 'give_back_turns',
    text: 'select give_back_turns($1,$2,$3)',
    values: [
      bareArray(turns.map(turn => toUuid(turn.accountId))),
      textArray(turns.map(turn => turn.person)),
      timeArray(turns.map(turn => turn.atMs)),
    ],
  })
}

/** Forgets recipients whose last turn has left its window, on that many pages from one on; whether there are more. */
export async function sweepTurns(db: Db, nowMs: number, fromPage: number, pages: number): Promise<boolean> {
  const { rows } = await db.query<{ more: boolean }>({
    name: 'fraud_recipients_sweep',
    // By place: an index of when they are idle would be written with every code.
    text: `with gone as (
             delete from fraud_recipients where ctid = any (array(
               select ctid from fraud_recipients
                where ctid >= format('(%s,0)', $2::bigint)::tid and ctid < format('(%s,0)', $3::bigint)::tid
                  and idle_at < $1 for update skip locked)))
           select pg_relation_size('fraud_recipients') > $3::bigint * current_setting('block_size')::bigint as more`,
    values: [toIso(nowMs), fromPage, fromPage + pages],
  })
  return rows[0]!.more
}

import type { Db } from '../../infra/db.ts'
import { bareArray, textArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

export type Turn =
  /** So many within the window, this one, of `atMs`, included. */
  { taken: true; turns: number; atMs: number } | { taken: false; freeAtMs: number }

const MINUTE_MS = 60_000

type Asked = { accountId: AccountId; recipient: string; nowMs: number; most: number; windowMinutes: number }

/** One turn for each, where there is one; in the order of the items. No recipient stands there twice. */
export async function takeTurns(db: Db, items: readonly Asked[]): Promise<Turn[]> {
  // In one order on every node: so they never wait for each other in a circle.
  const sorted = [...items].sort(compare)
  const atMs = Math.max(...items.map(item => item.nowMs))
  const { rows } = await db.query<{ account_id: string; recipient: string; turns: number }>({
    name: 'take_turns',
    text: 'select * from take_turns($1,$2,$3,$4,$5)',
    values: [
      toIso(atMs),
      bareArray(sorted.map(item => toUuid(item.accountId))),
      textArray(sorted.map(item => item.recipient)),
      bareArray(sorted.map(item => item.most)),
      bareArray(sorted.map(item => item.windowMinutes)),
    ],
  })
  const taken = new Map(rows.map(row => [`${row.account_id} ${row.recipient}`, row.turns]))
  const turnsOf = ({ accountId, recipient }: Asked) => taken.get(`${toUuid(accountId)} ${recipient}`)
  const refused = items.filter(item => turnsOf(item) === undefined)
  const free = refused.length === 0 ? [] : await whenFree(db, refused)
  return items.map(item => {
    const turns = turnsOf(item)
    return turns === undefined
      ? { taken: false, freeAtMs: free[refused.indexOf(item)]! }
      : { taken: true, turns, atMs }
  })
}

/** When the turn that is `most` from the end leaves its window: from then on there is another one. */
async function whenFree(db: Db, items: readonly Asked[]): Promise<number[]> {
  const { rows } = await db.query<{ n: number; sends: Date[] }>({
    name: 'turns_taken',
    text: `select i.n::integer, r.sends from unnest($1::uuid[], $2::text[]) with ordinality as i (account_id, recipient, n)
             join fraud_recipients r on r.account_id = i.account_id and r.recipient = i.recipient`,
    values: [
      bareArray(items.map(item => toUuid(item.accountId))),
      textArray(items.map(item => item.recipient)),
    ],
  })
  const found = new Map(rows.map(row => [row.n, row.sends]))
  return items.map(({ most, windowMinutes, nowMs }, at) => {
    const waitedFor =
      found
        .get(at + 1)
        ?.at(-most)
        ?.getTime() ?? nowMs
    return waitedFor + windowMinutes * MINUTE_MS
  })
}

function compare(one: Asked, other: Asked): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1
  return one.recipient < other.recipient ? -1 : Number(one.recipient > other.recipient)
}

/** A turn that was taken at that time, as if it had not been. */
export async function giveTurnBack(
  db: Db,
  { accountId, recipient }: { accountId: AccountId; recipient: string },
  atMs: number,
): Promise<void> {
  await db.query({
    name: 'turn_give_back',
    // One of those of that moment.
    text: `update fraud_recipients set
             sends = sends[1:array_position(sends, $3) - 1] || sends[array_position(sends, $3) + 1:]
            where account_id = $1 and recipient = $2 and $3 = any (sends)`,
    values: [toUuid(accountId), recipient, toIso(atMs)],
  })
}

/** Forgets recipients whose last turn has left its window; how many. */
export async function sweepTurns(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'fraud_recipients_sweep',
    text: `delete from fraud_recipients where ctid = any (array(
             select ctid from fraud_recipients where idle_at < $1 limit $2 for update skip locked))`,
    values: [toIso(nowMs), limit],
  })
  return rowCount ?? 0
}

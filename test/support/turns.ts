import type { Turn } from '../../src/core/fraud/guard.ts'
import type { Db } from '../../src/infra/db.ts'
import { boolArray, int2Array, textArray, timeArray, uuidArray } from '../../src/infra/pg-array.ts'
import { type AccountId, firstUuidAt } from '../../src/lib/ids.ts'

const DAY_MS = 86_400_000

/** A code's place in the limit per recipient; `atMs` is when the code is sent, in ms since the epoch. */
export type AskedTurn = Turn & { accountId: AccountId; atMs: number }

/**
 * Which codes are over the limit, by the SQL function that is called when codes are stored; null for a code
 * within it.
 */
export async function findLate(
  db: Db,
  turns: readonly AskedTurn[],
): Promise<({ late: boolean; freeAtMs: number } | null)[]> {
  const { rows } = await db.query<{ item: number; late: boolean; free_at: Date }>({
    name: 'test_find_late',
    text: 'select * from find_late($1,$2,$3,$4,$5,$6,$7,$8)',
    values: [
      uuidArray(turns, turn => turn.accountId),
      timeArray(turns, turn => turn.atMs),
      textArray(turns, turn => turn.person),
      int2Array(turns, turn => turn.sends),
      int2Array(turns, turn => turn.windowMinutes),
      boolArray(turns, turn => turn.strict),
      firstUuidAt(Math.min(...turns.map(turn => turn.atMs)) - 2 * DAY_MS),
      firstUuidAt(Math.max(...turns.map(turn => turn.atMs)) + DAY_MS),
    ],
  })
  const beyond = new Map(rows.map(row => [row.item - 1, { late: row.late, freeAtMs: row.free_at.getTime() }]))
  return turns.map((_, at) => beyond.get(at) ?? null)
}

import type { Turn } from '../../src/core/fraud/guard.ts'
import { type TakenTurn, turnValues } from '../../src/core/fraud/turn-store.ts'
import type { Db } from '../../src/infra/db.ts'
import { bareArray, timeArray } from '../../src/infra/pg-array.ts'
import { toUuid } from '../../src/lib/ids.ts'

export type AskedTurn = Turn & Omit<TakenTurn, 'person'>

/** Asks for turns as what stores codes does; each of them of another recipient. */
export async function takeTurns(
  db: Db,
  turns: readonly AskedTurn[],
): Promise<('taken' | 'late' | 'watched')[]> {
  const [person, ...limits] = turnValues(turns)
  const { rows } = await db.query<{ item: number; late: boolean }>({
    name: 'test_take_turns',
    text: 'select * from take_turns($1,$2,$3,$4,$5,$6)',
    values: [
      bareArray(turns.map(turn => toUuid(turn.accountId))),
      person,
      timeArray(turns.map(turn => turn.atMs)),
      ...limits,
    ],
  })
  const beyond = new Map(rows.map(({ item, late }) => [item - 1, late ? 'late' : 'watched'] as const))
  return turns.map((_, at) => beyond.get(at) ?? 'taken')
}

import type { Db } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { Turn } from './guard.ts'
import { giveTurnsBack, sweepTurns, type TakenTurn, turnFreeAt } from './turn-store.ts'

/**
 * How often a recipient is written to, exactly, whatever node sends: the store counts, in
 * the transaction that stores the code (`turnValues`). This is what is left to do beside it.
 */
export type Turns = {
  /** When there is one again, in ms since the epoch. */
  freeAt(accountId: AccountId, turn: Turn, nowMs: number): Promise<number>
  /** Of a code that was accepted and came to nothing. Never throws. */
  giveBack(turn: TakenTurn): void
}

export function createTurns({ db }: { db: Db }): Turns {
  return {
    freeAt: (accountId, turn, nowMs) => turnFreeAt(db, accountId, turn, nowMs),
    giveBack: turn => void giveTurnsBack(db, [turn]).catch(() => {}),
  }
}

/** 8 MB: some 50,000 recipients. */
const PAGES_AT_ONCE = 1_000

/** Forgets recipients whose last turn has left its window. */
export async function sweepAllTurns(db: Db, nowMs: number): Promise<void> {
  for (let page = 0; await sweepTurns(db, nowMs, page, PAGES_AT_ONCE); page += PAGES_AT_ONCE);
}

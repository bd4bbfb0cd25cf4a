import { sweepBlocks } from '../core/fraud/block-store.ts'
import { createBlocks } from '../core/fraud/blocks.ts'
import { createGuard } from '../core/fraud/create-guard.ts'
import { createRuleBook } from '../core/fraud/rule-book.ts'
import { createTallies } from '../core/fraud/tallies.ts'
import { createTallyStore, sweepChangeRecords, sweepTallies } from '../core/fraud/tally-store.ts'
import { createTotals } from '../core/fraud/totals.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/durations.ts'
import { type Chore, sweepAll } from '../workers/chores.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'

export type FraudRooms = ReturnType<typeof createFraudRooms>

const BLOCKS_KEEP_MS = 90 * DAY_MS
/** After so many half-lives a count has faded to nothing. */
const TALLIES_KEEP_MS = 14 * DAY_MS
const SWEEP_PAGE = 20_000

/** The fraud guard of verifications, and their totals. */
export function createFraudRooms(
  { db, clock, ids, random, phones, changes, metrics, log }: Foundation,
  lease: NodeLease,
) {
  const fraudRules = createRuleBook({ db, clock, changes })
  const verificationBlocks = createBlocks({ db, clock, ids, phones, metrics, log })
  const guard = createGuard({
    clock,
    rules: fraudRules,
    tallies: createTallies({ store: createTallyStore({ db, node: lease.id }), clock, random }),
    blocks: verificationBlocks,
  })
  return { guard, fraudRules, verificationBlocks, verificationTotals: createTotals({ db, clock }) }
}

export function listFraudChores({ db, clock }: Foundation, rooms: FraudRooms): Chore[] {
  return [
    { name: 'fold fraud tallies', everyMs: SECOND_MS, run: rooms.guard.round },
    { name: 'total verifications', everyMs: SECOND_MS, run: rooms.verificationTotals.round },
    { name: 'sweep changes of fraud tallies', everyMs: MINUTE_MS, run: () => sweepChangeRecords(db) },
    {
      name: 'sweep fraud tallies',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepTallies(db, clock.now() - TALLIES_KEEP_MS),
    },
    {
      name: 'sweep verification blocks',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepAll(() => sweepBlocks(db, clock.now() - BLOCKS_KEEP_MS, SWEEP_PAGE), SWEEP_PAGE),
    },
  ]
}

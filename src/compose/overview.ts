import type { Provider } from '../channels/provider.ts'
import { createOperations } from '../core/overview/operations.ts'
import { createMessageTotals } from '../core/overview/totals.ts'
import type { Chore } from '../workers/chores.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'
import type { MessageRooms } from './messages.ts'

export type OverviewRooms = ReturnType<typeof createOverviewRooms>

/** Statistics and operations, for pages of the console. */
export function createOverviewRooms(
  { db, clock }: Foundation,
  providers: ReadonlyMap<string, Provider>,
  { dispatcher, stateOf }: Pick<MessageRooms, 'dispatcher' | 'stateOf'>,
  lease: NodeLease,
) {
  return {
    messageTotals: createMessageTotals({ db, clock }),
    operations: createOperations({ db, clock, providers, node: lease.id, lanes: dispatcher.stats, stateOf }),
  }
}

const FOLD_EVERY_MS = 2_000

export function createTotalsChore({ messageTotals }: OverviewRooms): Chore {
  return { name: 'add up messages', everyMs: FOLD_EVERY_MS, run: messageTotals.fold }
}

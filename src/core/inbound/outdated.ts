import type { Db } from '../../infra/db.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { type DatedDecision, selectOutdated } from './decision-store.ts'
import { placeOf } from './decisions.ts'
import { takeTurns } from './turns-store.ts'

/** Providers repeat what we could not store for up to a week: older times count as wrong. */
const RELIABLE_MS = 8 * DAY_MS

/**
 * Those of these decisions that arrive after what the same person decided later, by a keyword or in the provider's app. Other
 * transactions with decisions of these people wait for this one, which has stored its keywords before, and stores its decisions
 * in the app after it.
 */
export async function findOutdated<T extends DatedDecision>(
  tx: Db,
  nowMs: number,
  decisions: readonly T[],
): Promise<Set<T>> {
  const reliable = decisions.filter(({ atMs }) => atMs > nowMs - RELIABLE_MS)
  if (reliable.length === 0) return new Set()
  await takeTurns(tx, 'keywords', reliable.map(placeOf))
  return selectOutdated(tx, nowMs, reliable)
}

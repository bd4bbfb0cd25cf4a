import { listOwned, type OwnedRow, releaseRows } from '../core/outbox/store.ts'
import type { Database } from '../infra/db.ts'
import type { MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

export type MislaidDeps = {
  db: Database
  log: Log
  node(): number
  /** What this node knows that it holds. */
  inHand: Pick<ReadonlyMap<MessageId, unknown>, 'has' | 'keys'>
  /** Ends an attempt that was recorded and that nobody makes. */
  giveUp(row: OwnedRow): Promise<void>
}

/**
 * Finds what the store says this node holds and this node knows nothing of: a
 * claim or a return whose answer was lost with the connection leaves such rows,
 * and as long as the node lives nobody else would take them. Two looks must
 * agree, further apart than any answer of the database takes: what is on its
 * way between store and hands is not mislaid.
 */
export function createMislaid(deps: MislaidDeps): { find(): Promise<number> } {
  const { db, inHand, log, node } = deps
  let missed = new Set<MessageId>()

  /** What has not begun is free again; how many rows were let go. */
  async function find(): Promise<number> {
    const rows = (await listOwned(db, node(), [...inHand.keys()])).filter(row => !inHand.has(row.id))
    const twice = rows.filter(row => missed.has(row.id))
    missed = new Set(rows.map(row => row.id))
    if (twice.length === 0) return 0
    log.warn({ messages: twice.length }, 'letting go of messages that were lost sight of')
    await releaseRows(
      db,
      node(),
      twice.filter(row => !row.begun),
    )
    await Promise.all(twice.filter(row => row.begun).map(deps.giveUp))
    return twice.length
  }

  return { find }
}

import { listOwned, type OwnedRow, releaseRows } from '../core/outbox/store.ts'
import type { Database } from '../infra/db.ts'
import type { MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { UnmadeAttempts } from './unmade-attempts.ts'

export type OrphanCheckDeps = {
  db: Database
  log: Log
  node(): number
  /** The messages that this node holds in memory. */
  held: Pick<ReadonlyMap<MessageId, unknown>, 'has' | 'keys'>
  /** Pages of the outbox that one check reads. */
  pages?: number
  unmadeAttempts: Pick<UnmadeAttempts, 'takeRecorded'>
  /** Ends an attempt that was recorded and is not being made: it may have been. */
  concludeLost(row: OwnedRow): Promise<void>
  /** The same for one that was certainly not made. */
  concludeUnmade(row: OwnedRow): Promise<void>
}

export type OrphanCheck = {
  /** Looks once: releases messages that have not begun, and ends the attempts of the others. Returns how many messages. */
  release(): Promise<number>
}

/**
 * Finds orphaned messages: the database assigns them to this node, which does not hold
 * them. A claim or a release whose response was lost with the connection leaves such
 * rows, and as long as the node lives no other node would claim them. Two checks must
 * agree, further apart than any call to the database takes, since a message that is
 * just being claimed or released is not orphaned. Each check looks at one stretch of the
 * outbox, and a stretch in which it found something is looked at once more.
 */
export function createOrphanCheck(deps: OrphanCheckDeps): OrphanCheck {
  const { db, held, log, node } = deps
  let seenBefore = new Set<MessageId>()
  let page = 0
  let isSecondLook = false

  async function list(): Promise<OwnedRow[]> {
    const { rows, nextPage } = await listOwned(db, node(), [...held.keys()], page, deps.pages)
    const found = rows.filter(row => !held.has(row.id))
    if (found.length === 0 || isSecondLook) page = nextPage
    isSecondLook = found.length > 0 && !isSecondLook
    return found
  }

  async function release(): Promise<number> {
    const rows = await list()
    const twice = rows.filter(row => seenBefore.has(row.id))
    seenBefore = new Set(rows.map(row => row.id))
    if (twice.length === 0) return 0
    log.warn(
      { messages: twice.length },
      'releasing orphaned messages: the database assigns them to this node, which does not hold them',
    )
    await releaseRows(
      db,
      node(),
      twice.filter(row => !row.begun),
    )
    await Promise.all(twice.filter(row => row.begun).map(endAttempt))
    return twice.length
  }

  function endAttempt(row: OwnedRow): Promise<void> {
    return deps.unmadeAttempts.takeRecorded(row.id) ? deps.concludeUnmade(row) : deps.concludeLost(row)
  }

  return { release }
}

import { listOwned, type OwnedRow, releaseRows } from '../core/outbox/store.ts'
import type { Database } from '../infra/db.ts'
import type { MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createLru } from '../lib/lru.ts'

export type OrphanCheckDeps = {
  db: Database
  log: Log
  node(): number
  /** The messages that this node holds in memory. */
  held: Pick<ReadonlyMap<MessageId, unknown>, 'has' | 'keys'>
  /** Pages of the outbox that one check reads. */
  pages?: number
  /** Ends an attempt that was recorded and is not being made: it may have been. */
  concludeLost(row: OwnedRow): Promise<void>
  /** The same for one that was certainly not made. */
  concludeUnmade(row: OwnedRow): Promise<void>
}

export type OrphanCheck = {
  /** Looks once; returns how many messages it released. */
  release(): Promise<number>
  /**
   * The message may be stored, with its first attempt recorded if `begun`. Nobody heard of it: this node has not made the attempt,
   * and will not make one before it holds the message.
   */
  noteUnheard(id: MessageId, begun: boolean): void
  /**
   * Whether an attempt of a stored message was recorded unheard and is still to be reverted, which the caller then does: once, since
   * the next attempt has the same number. False where it may not have been recorded: then another node may be making one.
   */
  takeRecorded(id: MessageId): boolean
  /** This node holds the message, so its next attempt may be made. */
  noteHeld(id: MessageId): void
}

/**
 * Of a message that may be stored unheard: whether the accepts that may have stored it have recorded its first attempt, each
 * (`begun`), none (`waiting`) or some (`uncertain`); `over` once there is nothing to revert any more.
 */
type Unheard = 'begun' | 'waiting' | 'uncertain' | 'over'
/** Many more than can be unheard at once: those that were not stored are never looked up. */
const UNHEARD_KEPT = 10_000

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
  const unheard = createLru<MessageId, Unheard>(UNHEARD_KEPT)
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

  /** Releases those that have not begun, and ends the attempts of the others; returns how many rows. */
  async function find(): Promise<number> {
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
    return takeUnmade(row.id) ? deps.concludeUnmade(row) : deps.concludeLost(row)
  }

  /** The same as `takeRecorded` where the database says that an attempt is recorded. */
  function takeUnmade(id: MessageId): boolean {
    const state = unheard.get(id)
    // An attempt of one that was stored `waiting` was recorded by who took it from the outbox, maybe this node before it knew.
    if (state !== 'begun' && state !== 'uncertain') return false
    unheard.set(id, 'over')
    return true
  }

  return {
    release: find,
    noteUnheard(id, begun) {
      const before = unheard.get(id)
      // The message may be on its way since.
      if (before === 'over') return
      const now = begun ? 'begun' : 'waiting'
      unheard.set(id, before === undefined || before === now ? now : 'uncertain')
    },
    takeRecorded: id => unheard.get(id) === 'begun' && takeUnmade(id),
    noteHeld(id) {
      if (unheard.get(id) !== undefined) unheard.set(id, 'over')
    },
  }
}

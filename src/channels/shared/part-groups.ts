import { createLru } from '../../lib/lru.ts'
import type { Receipt } from '../provider.ts'

/**
 * Receipts come for each part, statuses are of whole messages. A message goes
 * by the id of its last part; it is `delivered` when every part is, and
 * `undelivered` when any part is.
 *
 * What is known of parts is held in memory, bounded, and shared by the binds of
 * one connection. After a restart the last part's receipt alone speaks for the
 * message, since that is the id which the core knows; receipts of other parts
 * name nothing it knows and are dropped by it in time.
 */
export type PartGroups = {
  /** A message whose parts are about to be submitted. */
  begin(): PartGroup
  /** The receipt to pass on for one that came, or null while others must follow. */
  apply(receipt: Receipt): Receipt | null
}

/**
 * One message on its way; `end` exactly once. Both are called in the moment in
 * which the answer is read, before the receipt that may stand right behind it.
 */
export type PartGroup = {
  taken(id: string): void
  /** `id` is the message's id, the last part's; null when it never became whole. */
  end(id: string | null): void
}

type Group = {
  /** Ids of the parts, and what their receipts said. */
  parts: Map<string, Receipt['status'] | null>
  id: string | null
  ended: boolean
  /** A part failed, and that was passed on. */
  failed: boolean
}

/** Part ids remembered; the oldest go first. */
const MOST_PARTS = 50_000
/** Receipts kept that may be of a part whose submit is not answered yet. */
const MOST_EARLY = 1000

export function createPartGroups(): PartGroups {
  const groups = createLru<string, Group>(MOST_PARTS)
  const early = createLru<string, Receipt['status']>(MOST_EARLY)
  let underWay = 0

  function begin(): PartGroup {
    const group: Group = { parts: new Map(), id: null, ended: false, failed: false }
    underWay++
    return {
      taken(id) {
        group.parts.set(id, early.get(id) ?? null)
        groups.set(id, group)
      },
      end(id) {
        group.id = id
        group.ended = true
        if (--underWay === 0) early.clear()
      },
    }
  }

  function apply(receipt: Receipt): Receipt | null {
    const group = groups.get(receipt.providerId)
    if (!group) {
      // It may belong to a part that is still being answered: passed on, and remembered for the group.
      if (underWay > 0) early.set(receipt.providerId, receipt.status)
      return receipt
    }
    group.parts.set(receipt.providerId, receipt.status)
    return speak(group, receipt)
  }

  /** What the group says now that this receipt is counted. */
  function speak(group: Group, receipt: Receipt): Receipt | null {
    if (receipt.status === 'undelivered') {
      // While parts are still being submitted the message has no id: its last receipt speaks later.
      group.failed = group.ended
      return group.id === null ? null : { ...receipt, providerId: group.id }
    }
    if (!group.ended || group.id === null || group.failed) return null
    if (receipt.status === 'delivered') return conclude(group, receipt, group.id)
    return receipt.providerId === group.id ? receipt : null
  }

  function conclude(group: Group, receipt: Receipt, id: string): Receipt | null {
    const statuses = [...group.parts.values()]
    if (statuses.includes('undelivered')) {
      return { ...receipt, providerId: id, status: 'undelivered', detail: 'a part was not delivered' }
    }
    return statuses.every(status => status === 'delivered') ? { ...receipt, providerId: id } : null
  }

  return { begin, apply }
}

import type { Waiters } from '../core/messages/waiters.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { releaseRows } from '../core/outbox/store.ts'
import type { Db } from '../infra/db.ts'
import type { MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createShortLivedMap } from '../lib/short-lived-map.ts'
import type { UnmadeAttempts } from './unmade-attempts.ts'

/** Every message that this node holds, from its hand-over to its settlement. */
export type HeldItems = {
  has(id: MessageId): boolean
  keys(): MapIterator<MessageId>
  hold(item: OutboxItem): void
  /** Forgets it, unless it is held again, because a late outcome made it continue. */
  drop(item: OutboxItem): void
  /** Gives messages that have not begun back to the outbox, for any node. Never rejects. */
  release(items: readonly OutboxItem[]): Promise<void>
}

export type HeldItemsDeps = {
  db: Db
  log: Log
  node(): number
  waiters: Pick<Waiters, 'notify'>
  unmadeAttempts: Pick<UnmadeAttempts, 'noteHeld'>
}

export function createHeldItems({ db, log, node, waiters, unmadeAttempts }: HeldItemsDeps): HeldItems {
  const items = createShortLivedMap<MessageId, OutboxItem>()

  function drop(item: OutboxItem): void {
    item.submitCallbacks?.submitted(null)
    if (items.get(item.id) === item) items.delete(item.id)
  }

  return {
    has: items.has,
    keys: items.keys,
    hold(item) {
      items.set(item.id, item)
      unmadeAttempts.noteHeld(item.id)
    },
    drop,
    async release(released) {
      if (released.length === 0) return
      for (const item of released) {
        drop(item)
        waiters.notify(item.id, null)
      }
      await releaseRows(db, node(), released).catch(error => {
        log.warn({ err: error }, 'held messages could not be released; they will be released as orphaned')
      })
    },
  }
}

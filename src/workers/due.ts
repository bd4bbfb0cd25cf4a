import { type EndReason, endMessages } from '../core/messages/withdraw-store.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { type ClaimedRow, claimDue } from '../core/outbox/store.ts'
import { type SecretContent, secretContext, withSecret } from '../core/outbox/stored-content.ts'
import type { Database } from '../infra/db.ts'
import type { Seal } from '../infra/seal.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

/** How many messages of a connection there is room for; `testsOnly`: of test keys. */
export type Room = { connectionId: ConnectionId; limit: number; testsOnly?: boolean }

export type Claimed = {
  /** This node's from now on, whether they may leave or not. */
  rows: readonly ClaimedRow[]
  /** Those that may. */
  items: OutboxItem[]
  /** Ends the others; to be called once the items are in hand. */
  endOthers(): Promise<void>
}

export type DueDeps = {
  db: Database
  clock: Clock
  seal: Seal
  log: Log
  node(): number
  /** Which of these must not leave any more, for what happened while they waited. */
  unwanted<Item extends OutboxItem>(items: readonly Item[]): Promise<ReadonlyMap<Item, EndReason>>
}

/** Takes messages out of the outbox that are due, as far as there is room. */
export function createDue({ db, clock, seal, log, node, unwanted }: DueDeps) {
  return async function claim(room: readonly Room[]): Promise<Claimed> {
    const rows = room.length === 0 ? [] : await claimDue(db, node(), clock.now(), room)
    const ended = new Map<ClaimedRow, EndReason>(await unwanted(rows))
    const items: OutboxItem[] = []
    for (const row of rows) {
      if (ended.has(row)) continue
      const item = toItem(row)
      if (item) items.push(item)
      else ended.set(row, 'unreadable')
    }
    return { rows, items, endOthers: () => endMessages(db, clock.now(), ended) }
  }

  /** The words of an OTP are in the clear from here to the provider, and nowhere else. */
  function toItem(row: ClaimedRow): OutboxItem | null {
    const { secret, ...item } = row
    // The words of an unknown attempt are erased: should it come back as not taken, they cannot be sent again.
    if (!secret) return item.messageType === 'otp' ? null : item
    try {
      const words = JSON.parse(seal.open(secret, secretContext(row.id)).toString()) as SecretContent
      return { ...item, content: withSecret(item.content, words) }
    } catch (error) {
      log.warn({ err: error, messageId: row.id }, 'the sealed words of a message cannot be opened')
      return null
    }
  }
}

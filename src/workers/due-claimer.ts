import { type EndReason, endMessages } from '../core/messages/withdraw-store.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { type ClaimedRow, claimDue } from '../core/outbox/store.ts'
import { type SecretContent, secretContext, withSecret } from '../core/outbox/stored-content.ts'
import type { Database } from '../infra/db.ts'
import type { Seal } from '../infra/seal.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

/** How many messages of a connection there is room for; with `testsOnly` only those of test keys. */
export type ConnectionCapacity = { connectionId: ConnectionId; limit: number; testsOnly?: boolean }

export type Claimed = {
  /** All that this node has claimed, whether they may be sent or not. */
  rows: readonly ClaimedRow[]
  /** Those that may be sent. */
  items: OutboxItem[]
  /** Ends the others; to be called once this node holds the items. */
  endOthers(): Promise<void>
}

export type DueClaimerDeps = {
  db: Database
  clock: Clock
  seal: Seal
  log: Log
  node(): number
  /** Which of these must not be sent any more, because of what happened while they waited. */
  findUnwanted<Item extends OutboxItem>(items: readonly Item[]): Promise<ReadonlyMap<Item, EndReason>>
}

/** Claims due messages from the outbox, as far as there is room. */
export function createDueClaimer({ db, clock, seal, log, node, findUnwanted }: DueClaimerDeps) {
  return async function claim(room: readonly ConnectionCapacity[]): Promise<Claimed> {
    const rows = room.length === 0 ? [] : await claimDue(db, node(), clock.now(), room)
    const ended = new Map<ClaimedRow, EndReason>(await findUnwanted(rows))
    const items: OutboxItem[] = []
    for (const row of rows) {
      if (row.cancelled) ended.set(row, 'cancelled')
      if (ended.has(row)) continue
      const item = toItem(row)
      if (item) items.push(item)
      else ended.set(row, 'unreadable')
    }
    return { rows, items, endOthers: () => endMessages(db, clock.now(), ended) }
  }

  /** The text of an OTP is in the clear from here to the provider, and nowhere else. */
  function toItem(row: ClaimedRow): OutboxItem | null {
    const { secret, cancelled: _, ...item } = row
    // The text of an unknown attempt is erased: if it turns out not to have been taken, it cannot be sent again.
    if (!secret) return item.messageType === 'otp' ? null : item
    try {
      const words = JSON.parse(seal.open(secret, secretContext(row.id)).toString()) as SecretContent
      return { ...item, content: withSecret(item.content, words) }
    } catch (error) {
      log.warn({ err: error, messageId: row.id }, 'the sealed text of a message cannot be decrypted')
      return null
    }
  }
}

import { beginAttempts } from '../core/messages/hot-store.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import { patiently } from '../infra/patiently.ts'
import type { Clock } from '../lib/clock.ts'

/**
 * Records an attempt, many in one statement: its number, or null where the message
 * is no longer this node's to send. Waits for a database that is away, unless stopping.
 */
export type Begin = (item: OutboxItem) => Promise<number | null>

export type BeginDeps = { db: Database; clock: Clock; node(): number; stopping(): boolean }

export function createBegin({ db, clock, node, stopping }: BeginDeps): Begin {
  async function begin(items: OutboxItem[]): Promise<(number | null)[]> {
    const order = items
      .map((_, at) => at)
      .sort((a, b) => (lockOrder(items[a]!) < lockOrder(items[b]!) ? -1 : 1))
    const sorted = order.map(at => items[at]!)
    const nowMs = clock.now()
    const attempts = await patiently(
      clock,
      () => !stopping(),
      repeated => beginAttempts(db, node(), nowMs, sorted, repeated),
    )
    const results: (number | null)[] = new Array(items.length)
    order.forEach((at, position) => {
      results[at] = attempts[position]!
    })
    return results
  }

  const batcher = createBatcher<OutboxItem, number | null>({ flush: begin })
  return batcher.add
}

function lockOrder({ accountId, id }: OutboxItem): string {
  return accountId + id
}

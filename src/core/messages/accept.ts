import { createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AcceptRow, type AcceptVerdict, acceptSends } from './hot-store.ts'
import { withdrawUnconfirmed } from './withdraw-store.ts'

export type Accept = {
  /** Makes one send durable. Rejects with DatabaseUnavailable when that could not be confirmed: then it will not be sent. */
  add(row: AcceptRow): Promise<AcceptVerdict>
  /** Takes back what may have been stored although its sender was told that it was not; a chore. */
  withdrawUnconfirmed(): Promise<void>
  idle(): Promise<void>
}

export type AcceptDeps = {
  db: Database
  clock: Clock
  /** This node's number, which changes when its lease was lost. */
  node(): number
  /** How long a flush is repeated while the database is away, in ms. */
  patienceMs?: number
  observe?(items: number, durationMs: number): void
}

/** A pause between two tries of a flush: long enough for a restart, short enough for a sender. */
const RETRY_EVERY_MS = 100
const MAX_ITEMS = 256

/**
 * Accepts sends, many in one transaction. A flush whose outcome is lost with the
 * connection is repeated with the same ids, which is safe: what the first one
 * stored is recognised.
 */
export function createAccept(deps: AcceptDeps): Accept {
  const { db, clock } = deps
  const patienceMs = deps.patienceMs ?? 3_000
  /** Perhaps stored, certainly refused towards their senders. */
  let unconfirmed: AcceptRow[] = []

  const batcher = createBatcher<AcceptRow, AcceptVerdict>({ flush, maxItems: MAX_ITEMS })

  async function flush(rows: AcceptRow[]): Promise<AcceptVerdict[]> {
    const startedMs = clock.monotonic()
    const order = rows.map((_, at) => at).sort((a, b) => compare(rows[a]!, rows[b]!))
    const sorted = order.map(at => rows[at]!)
    const verdicts = await acceptPatiently(sorted)
    const results: AcceptVerdict[] = new Array(rows.length)
    order.forEach((at, position) => {
      results[at] = verdicts[position]!
    })
    deps.observe?.(rows.length, clock.monotonic() - startedMs)
    return results
  }

  async function acceptPatiently(sorted: AcceptRow[]): Promise<AcceptVerdict[]> {
    const giveUpAtMs = clock.monotonic() + patienceMs
    for (let repeated = false; ; repeated = true) {
      try {
        return await acceptOrSplit(sorted, repeated)
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error
        if (clock.monotonic() >= giveUpAtMs) {
          unconfirmed.push(...sorted)
          throw error
        }
        await new Promise<void>(resolve => clock.after(RETRY_EVERY_MS, resolve))
      }
    }
  }

  /** A value that the database refuses fails its own item: the others go on without it. */
  async function acceptOrSplit(sorted: AcceptRow[], repeated: boolean): Promise<AcceptVerdict[]> {
    try {
      return await acceptSends(db, deps.node(), clock.now(), sorted, repeated)
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      if (sorted.length === 1) return [{ kind: 'faulty', cause: error }]
      const half = sorted.length >> 1
      return [
        ...(await acceptOrSplit(sorted.slice(0, half), repeated)),
        ...(await acceptOrSplit(sorted.slice(half), repeated)),
      ]
    }
  }

  return {
    add: row => batcher.add(row),
    async withdrawUnconfirmed() {
      if (unconfirmed.length === 0) return
      const rows = unconfirmed
      unconfirmed = []
      try {
        await withdrawUnconfirmed(db, clock.now(), rows)
      } catch (error) {
        unconfirmed = [...rows, ...unconfirmed]
        throw error
      }
    },
    idle: () => batcher.idle(),
  }
}

function compare(a: AcceptRow, b: AcceptRow): number {
  if (a.accountId !== b.accountId) return a.accountId < b.accountId ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

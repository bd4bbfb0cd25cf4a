import type { Channel, MessageType, SendMode } from '../../contract/enums.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { type ConnectionRow, selectConnectionsFor } from './store.ts'

/** A connection as routing needs it; without its secrets. */
export type ConnectionSnapshot = {
  id: ConnectionId
  /** The account's own, or `PLATFORM`. */
  accountId: AccountId
  provider: string
  name: string
  channels: readonly Channel[]
  config: Readonly<Record<string, unknown>>
  enabled: boolean
  priorityOrder: number
  retryPolicy: { maxAttempts: number; backoffMs: number }
  allowedTypes: readonly MessageType[]
  sendModeByType: Readonly<Partial<Record<MessageType, SendMode>>>
  /** Rises with every change, so that a link knows when it is out of date. */
  revision: number
}

export type ConnectionSnapshots = {
  /**
   * The account's own and the platform's, disabled ones included, in the order
   * in which they are tried. At once when warm.
   */
  forAccount(accountId: AccountId): readonly ConnectionSnapshot[] | Promise<readonly ConnectionSnapshot[]>
}

const MAX_ACCOUNTS = 10_000

export function createConnectionSnapshots(deps: {
  db: Db
  clock: Clock
  changes: Pick<Changes, 'fresh' | 'subscribe'>
}): ConnectionSnapshots {
  const cache = createFreshCache<AccountId, readonly ConnectionSnapshot[]>({
    clock: deps.clock,
    fresh: deps.changes.fresh,
    maxEntries: MAX_ACCOUNTS,
    ownerOf: accountId => accountId,
    load: async accountId => (await selectConnectionsFor(deps.db, accountId)).map(snapshotOf),
  })
  deps.changes.subscribe({
    changed(table, accountId) {
      if (table !== 'connections' || !accountId) return
      if (accountId === PLATFORM) cache.clear()
      else cache.forget(accountId)
    },
    reset: cache.clear,
  })
  // Never null: an account without connections has an empty list.
  return {
    forAccount: id => cache.get(id) as ReturnType<ConnectionSnapshots['forAccount']>,
  }
}

export function snapshotOf(row: ConnectionRow): ConnectionSnapshot {
  const { secrets: _, maxAttempts, backoffMs, ...rest } = row
  return { ...rest, retryPolicy: { maxAttempts, backoffMs } }
}

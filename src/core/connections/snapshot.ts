import type { Channel, MessageType, SendMode } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
import { type ConnectionRow, selectConnectionsFor } from './store.ts'

/** A connection for routing, without its secrets. */
export type ConnectionSnapshot = {
  id: ConnectionId
  /** The owner, or `PLATFORM`. */
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
  /** Increases with every change, so that a link knows when it is out of date. */
  revision: number
}

export type ConnectionSnapshots = {
  /**
   * The connections of the account and of the platform, including disabled ones, in the order
   * in which they are tried. Synchronous when cached.
   */
  forAccount(accountId: AccountId): readonly ConnectionSnapshot[] | Promise<readonly ConnectionSnapshot[]>
}

export function createConnectionSnapshots({
  db,
  ...deps
}: AccountCacheDeps & { db: Db }): ConnectionSnapshots {
  return {
    forAccount: createAccountCache(deps, ['connections'], async accountId =>
      (await selectConnectionsFor(db, accountId)).map(snapshotOf),
    ),
  }
}

export function snapshotOf(row: ConnectionRow): ConnectionSnapshot {
  const { secrets: _, maxAttempts, backoffMs, ...rest } = row
  return { ...rest, retryPolicy: { maxAttempts, backoffMs } }
}

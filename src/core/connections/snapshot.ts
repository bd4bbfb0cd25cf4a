import type { Channel, MessageType, SendMode } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
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

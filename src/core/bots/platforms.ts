import type { BotPlatform } from '../../contract/bot-platform.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'

/** A platform as a connection reaches it. */
export type OpenPlatform = { provider: string; bots: BotPlatform }

/** Where bots are reached. */
export type Platforms = {
  /** Undefined where the connection is not open on this node. */
  get(connectionId: ConnectionId): OpenPlatform | undefined
  /** Over which an account's new bots go; null where nobody has made one. */
  choose(db: Db, accountId: AccountId): Promise<ConnectionId | null>
  /** Lends the platform at its usual address, which no connection leads to yet. */
  atUsual<T>(work: (platform: BotPlatform) => Promise<T>): Promise<T>
  /** Makes the account a connection of its own to the usual address, within the caller's transaction. */
  connect(tx: Db, accountId: AccountId): Promise<ConnectionId>
  /** After a transaction that made one: opens it. */
  connected(accountId: AccountId): Promise<void>
}

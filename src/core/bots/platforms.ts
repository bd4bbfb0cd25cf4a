import type { BotPlatform } from '../../contract/bot-platform.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'

/** A platform as a connection reaches it. */
export type OpenPlatform = { provider: string; bots: BotPlatform }

/** The bot platforms of the connections. */
export type Platforms = {
  /** Undefined where the connection is not open on this node. */
  get(connectionId: ConnectionId): OpenPlatform | undefined
  /** The connection for an account's new bots; null where there is none. */
  chooseConnection(db: Db, accountId: AccountId): Promise<ConnectionId | null>
  /** Runs `work` with the platform at its usual address, where no connection exists yet. */
  atDefault<T>(work: (platform: BotPlatform) => Promise<T>): Promise<T>
  /** Makes a connection of the account to the usual address, within the caller's transaction. */
  createConnection(tx: Db, accountId: AccountId): Promise<ConnectionId>
  /** Opens that connection, after the transaction. */
  openConnection(accountId: AccountId): Promise<void>
}

import type { BotPlatform } from '../../contract/bot-platform.ts'
import type { Caller } from '../../contract/caller.ts'
import type { ConnectionId } from '../../lib/ids.ts'

/** A platform as a connection reaches it. */
export type OpenPlatform = { provider: string; bots: BotPlatform }

/** The bot platforms of the connections. */
export type Platforms = {
  /** Undefined where the connection is not open on this node. */
  get(connectionId: ConnectionId): OpenPlatform | undefined
  /** The connection for an account's new bots: `nothing` where none is enabled, and the sandbox does not stand in. */
  choose(caller: Caller): Promise<ConnectionId | 'sandbox' | 'nothing'>
}

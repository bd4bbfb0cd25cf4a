import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type BotId, type ConnectionId, isId } from '../../lib/ids.ts'
import { type BotRow, findBot } from './store.ts'

/** A bot with its opened token, as sends and updates need it. */
export type BotWithToken = Pick<BotRow, 'accountId' | 'id' | 'state'> & {
  connectionId: ConnectionId
  token: string
  /** The token as stored: identifies it when its use is ended. */
  sealed: Buffer
}

export type BotTokens = {
  /** Synchronous when cached; null for an unknown bot, and for one of the sandbox. */
  find(id: string): BotWithToken | null | Promise<BotWithToken | null>
  /** The token of a bot of this connection. */
  read(connectionId: ConnectionId, id: string): Promise<string | null>
}

const MAX_CACHED_BOTS = 10_000
const TABLE = 'bots'

export function createBotTokens(deps: {
  db: Db
  clock: Clock
  seal: Pick<Seal, 'open'>
  changes: Pick<Changes, 'fresh' | 'subscribe'>
}): BotTokens {
  const cache = createFreshCache<BotId, BotWithToken>({
    clock: deps.clock,
    fresh: deps.changes.fresh,
    maxEntries: MAX_CACHED_BOTS,
    ownerOf: (_, bot) => bot.accountId,
    async load(id) {
      const row = await findBot(deps.db, id)
      if (!row?.token || row.connectionId === null) return null
      const { accountId, connectionId, state, token: sealed } = row
      const token = deps.seal.open(sealed, tokenContext(id)).toString()
      return { accountId, id, connectionId, state, token, sealed }
    },
  })
  deps.changes.subscribe({
    changed(table: string, accountId: AccountId | null) {
      if (table === TABLE && accountId) cache.forget(accountId)
    },
    reset: cache.clear,
  })
  const find = (id: string) => (isId('bot', id) ? cache.get(id) : null)

  return {
    find,
    async read(connectionId, id) {
      const bot = await find(id)
      return bot?.connectionId === connectionId ? bot.token : null
    },
  }
}

/** The context that a bot's token is sealed for: it opens for this bot only. */
export function tokenContext(id: BotId): string {
  return `bot:${id}`
}

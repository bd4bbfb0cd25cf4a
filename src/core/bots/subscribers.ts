import type { SubscriberPage, SubscriberQuery } from '../../contract/bot.ts'
import type { Caller } from '../../contract/caller.ts'
import type { Db } from '../../infra/db.ts'
import { isId } from '../../lib/ids.ts'
import { unknownBot } from './bots.ts'
import { type BotWithFeed, selectBot } from './store.ts'
import { listSubscribers, searchSubscribers } from './subscriber-store.ts'
import { viewSubscriber } from './view.ts'

export type BotSubscribers = {
  /** Who started a bot, the newest first. NOT_FOUND for a bot that is not the account's. */
  list(caller: Caller, botId: string, query: SubscriberQuery): Promise<SubscriberPage>
}

export function createBotSubscribers({ db }: { db: Db }): BotSubscribers {
  async function read(bot: BotWithFeed, { q = '', page, limit }: SubscriberQuery) {
    const place = { offset: (page - 1) * limit, limit }
    // No name has a NUL in it, and no text of the store could.
    const words = q.trim()
    if (words.includes('\0')) return { rows: [], total: 0 }
    if (words !== '') return searchSubscribers(db, bot, words, place)
    return { rows: await listSubscribers(db, bot, place), total: bot.subscribers }
  }

  return {
    async list({ account }, botId, query) {
      const bot = isId('bot', botId) ? await selectBot(db, account.id, botId) : null
      if (!bot) return unknownBot()
      const { rows, total } = await read(bot, query)
      const { page, limit } = query
      return {
        success: true,
        data: {
          accountId: botId,
          subscribers: rows.map(row => viewSubscriber(bot.id, row)),
          page,
          limit,
          total,
          hasMore: page * limit < total,
        },
      }
    },
  }
}

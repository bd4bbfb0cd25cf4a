import type { SubscriberPage, SubscriberQuery } from '../../contract/bot.ts'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import { throwUnknownBot } from './bots.ts'
import { type BotWithFeed, selectBot } from './store.ts'
import { listSubscribers, searchSubscribers } from './subscriber-store.ts'
import { viewSubscriber } from './view.ts'

export type BotSubscribers = {
  /**
   * The subscribers of a bot, the newest first. NOT_FOUND for a bot that is not the account's, RATE_LIMITED while
   * too many searches of the account are running on this node.
   */
  list(caller: Caller, botId: string, query: SubscriberQuery): Promise<SubscriberPage>
}

type PageRange = { offset: number; limit: number }
type Search = { bot: BotWithFeed; text: string; range: PageRange }

/**
 * Concurrent searches on this node: each reads all subscribers of its bot, two seconds for a million, and searches
 * on all database connections would block everything else, including sends.
 */
const MAX_SEARCHES = 2
/** Searches of one account, running or waiting. */
const MAX_ACCOUNT_SEARCHES = 20

export function createBotSubscribers({ db }: { db: Db }): BotSubscribers {
  const searches = createBatcher<Search, Awaited<ReturnType<typeof searchSubscribers>>>({
    flush: items => Promise.all(items.map(({ bot, text, range }) => searchSubscribers(db, bot, text, range))),
    maxItems: 1,
    maxConcurrentFlushes: MAX_SEARCHES,
  })
  const inFlight = new Map<AccountId, number>()

  async function search(asked: Search) {
    const { accountId } = asked.bot
    const own = inFlight.get(accountId) ?? 0
    if (own >= MAX_ACCOUNT_SEARCHES) {
      throw new Problem('RATE_LIMITED', 'Too many searches are under way at once.', { retryAfterSeconds: 1 })
    }
    inFlight.set(accountId, own + 1)
    try {
      return await searches.add(asked)
    } finally {
      const left = inFlight.get(accountId)! - 1
      if (left === 0) inFlight.delete(accountId)
      else inFlight.set(accountId, left)
    }
  }

  async function read(bot: BotWithFeed, { q = '', page, limit }: SubscriberQuery) {
    const range = { offset: (page - 1) * limit, limit }
    // PostgreSQL texts cannot contain NUL, so nothing would be found.
    const text = q.trim()
    if (text.includes('\0')) return { rows: [], total: 0 }
    if (text !== '') return search({ bot, text, range })
    return { rows: await listSubscribers(db, bot, range), total: bot.subscribers }
  }

  return {
    async list({ account }, botId, query) {
      const bot = isId('bot', botId) ? await selectBot(db, account.id, botId) : null
      if (!bot) return throwUnknownBot()
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

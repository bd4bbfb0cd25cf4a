import type { SenderUpdate } from '../../channels/provider.ts'
import type { BotChat, BotUpdate } from '../../contract/bot-platform.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, BotId } from '../../lib/ids.ts'
import type { FeedChange } from './feed-store.ts'
import { hear, isSubscriber, move, type Subscriber, type SubscriberEvent } from './subscriber.ts'
import { type ChatRef, putChats, type SubscriberRow, selectChats } from './subscriber-store.ts'

type Bot = { accountId: AccountId; botId: BotId }
type ChatEvent = Bot & { type: SubscriberEvent; chat: Subscriber }
type Change = Exclude<SenderUpdate['change'], { kind: 'unauthorized' }>

/** Chats of feeds that the transaction has locked: read in one query, changed in memory, written in one query. */
export type Chats = {
  hear(bot: Bot, update: BotUpdate & { chat: BotChat }, nowMs: number): void
  /** Applies what a send showed about a chat. */
  learn(bot: Bot, change: Change, nowMs: number): void
  store(): Promise<void>
  events(): readonly ChatEvent[]
  /** Per bot, once. */
  changes(bots: readonly Bot[], lastUpdateAtMs: number | null): FeedChange[]
}

export async function createChats(tx: Db, refs: readonly ChatRef[]): Promise<Chats> {
  const before = refs.length === 0 ? [] : await selectChats(tx, refs)
  const chats = new Map<string, SubscriberRow>(before.map(row => [keyOf(row, row.chatId), row]))
  const changed = new Set<string>()
  const events: ChatEvent[] = []
  /** The change of each bot's number of subscribers. */
  const growth = new Map<BotId, number>()

  function put(bot: Bot, chat: Subscriber): void {
    const key = keyOf(bot, chat.chatId)
    const grown = Number(isSubscriber(chat)) - Number(isSubscriber(chats.get(key) ?? null))
    growth.set(bot.botId, (growth.get(bot.botId) ?? 0) + grown)
    chats.set(key, { ...chat, accountId: bot.accountId, botId: bot.botId })
    changed.add(key)
  }

  function goOn(bot: Bot, chatId: string, to: string): void {
    const left = chats.get(keyOf(bot, chatId))
    if (!left || left.movedTo !== null) return
    const moved = move(left, chats.get(keyOf(bot, to)) ?? null, to)
    put(bot, moved.left)
    put(bot, moved.now)
  }

  function listen(bot: Bot, update: BotUpdate & { chat: BotChat }, nowMs: number): void {
    const { chat, what } = update
    if (what?.kind === 'moved') goOn(bot, chat.chatId, what.to)
    const known = chats.get(keyOf(bot, chat.chatId)) ?? null
    // A group that has moved: its new chat gets updates of its own.
    if (known && known.movedTo !== null) return
    const heard = hear(known, update, nowMs)
    if (!heard.after) return
    put(bot, heard.after)
    for (const type of heard.events) events.push({ ...bot, type, chat: heard.after })
  }

  return {
    hear: listen,
    learn(bot, change, nowMs) {
      if (change.kind === 'moved') goOn(bot, change.chatId, change.to)
      const known = change.kind === 'blocked' ? chats.get(keyOf(bot, change.chatId)) : undefined
      if (!known) return
      const what = { kind: 'blocked' as const }
      listen(bot, { id: known.seenUpdate, chat: known, atMs: null, what, press: null }, nowMs)
    },
    store: () =>
      putChats(
        tx,
        [...changed].map(key => chats.get(key)!),
      ),
    events: () => events,
    changes(bots, lastUpdateAtMs) {
      const once = new Map(bots.map(({ accountId, botId }) => [botId, accountId]))
      return [...once].map(([botId, accountId]) => ({
        accountId,
        botId,
        subscribers: growth.get(botId) ?? 0,
        lastUpdateAtMs,
      }))
    },
  }
}

function keyOf({ botId }: Pick<Bot, 'botId'>, chatId: string): string {
  return `${botId} ${chatId}`
}

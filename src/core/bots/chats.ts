import type { SenderUpdate } from '../../channels/provider.ts'
import type { BotChat, BotUpdate } from '../../contract/bot-platform.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, BotId } from '../../lib/ids.ts'
import type { FeedChange } from './feed-store.ts'
import {
  applyUpdate,
  isSubscriber,
  markBlocked,
  moveSubscriber,
  type Subscriber,
  type SubscriberChange,
  type SubscriberEvent,
} from './subscriber.ts'
import { type ChatRef, type SubscriberRow, selectChats, upsertChats } from './subscriber-store.ts'

type Bot = { accountId: AccountId; botId: BotId }
type ChatEvent = Bot & { type: SubscriberEvent; chat: Subscriber }
type Change = Exclude<SenderUpdate['change'], { kind: 'unauthorized' }>

/** Chats of feeds that the transaction has locked: read in one query, changed in memory, written in one query. */
export type ChatBatch = {
  applyUpdate(bot: Bot, update: BotUpdate & { chat: BotChat }, nowMs: number): void
  /** Applies what a send showed about a chat. */
  applySendResult(bot: Bot, change: Change, nowMs: number): void
  store(): Promise<void>
  events(): readonly ChatEvent[]
  /** Per bot, once. */
  changes(bots: readonly Bot[], lastUpdateAtMs: number | null): FeedChange[]
}

/** Reads the chats. `tx` must be the transaction that has locked their feeds. */
export async function loadChats(tx: Db, refs: readonly ChatRef[]): Promise<ChatBatch> {
  const before = refs.length === 0 ? [] : await selectChats(tx, refs)
  const chats = new Map<string, SubscriberRow>(before.map(row => [keyOf(row, row.chatId), row]))
  const changed = new Set<string>()
  const events: ChatEvent[] = []
  /** The change of each bot's number of subscribers. */
  const subscriberDeltas = new Map<BotId, number>()

  function setChat(bot: Bot, chat: Subscriber): void {
    const key = keyOf(bot, chat.chatId)
    const grown = Number(isSubscriber(chat)) - Number(isSubscriber(chats.get(key) ?? null))
    subscriberDeltas.set(bot.botId, (subscriberDeltas.get(bot.botId) ?? 0) + grown)
    chats.set(key, { ...chat, accountId: bot.accountId, botId: bot.botId })
    changed.add(key)
  }

  function moveChat(bot: Bot, chatId: string, to: string): void {
    const before = chats.get(keyOf(bot, chatId))
    if (!before || before.movedTo !== null) return
    const moved = moveSubscriber(before, chats.get(keyOf(bot, to)) ?? null, to)
    setChat(bot, moved.left)
    setChat(bot, moved.now)
  }

  function applyToChat(bot: Bot, update: BotUpdate & { chat: BotChat }, nowMs: number): void {
    const { chat, what } = update
    if (what?.kind === 'moved') moveChat(bot, chat.chatId, what.to)
    const known = chats.get(keyOf(bot, chat.chatId)) ?? null
    // A group that has moved: its new chat gets updates of its own.
    if (known && known.movedTo !== null) return
    setChange(bot, applyUpdate(known, update, nowMs))
  }

  function setChange(bot: Bot, { after, events: types }: SubscriberChange): void {
    if (!after) return
    setChat(bot, after)
    for (const type of types) events.push({ ...bot, type, chat: after })
  }

  return {
    applyUpdate: applyToChat,
    applySendResult(bot, change, nowMs) {
      if (change.kind === 'moved') moveChat(bot, change.chatId, change.to)
      const known = change.kind === 'blocked' ? chats.get(keyOf(bot, change.chatId)) : undefined
      if (known && known.movedTo === null) setChange(bot, markBlocked(known, nowMs))
    },
    store: () =>
      upsertChats(
        tx,
        [...changed].map(key => chats.get(key)!),
      ),
    events: () => events,
    changes(bots, lastUpdateAtMs) {
      const once = new Map(bots.map(({ accountId, botId }) => [botId, accountId]))
      return [...once].map(([botId, accountId]) => ({
        accountId,
        botId,
        subscriberDelta: subscriberDeltas.get(botId) ?? 0,
        lastUpdateAtMs,
      }))
    },
  }
}

function keyOf({ botId }: Pick<Bot, 'botId'>, chatId: string): string {
  return `${botId} ${chatId}`
}

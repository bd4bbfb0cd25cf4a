import type { InboundMessage, SenderUpdate } from '../../channels/provider.ts'
import { type BotChat, type BotMessage, type BotUpdate, botMessageId } from '../../contract/bot-platform.ts'
import { createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, BotId, ConnectionId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { storable } from '../../lib/storable.ts'
import { insertHeardEvents } from '../callbacks/event-store.ts'
import type { KeepInbound } from '../inbound/keep.ts'
import { claimRefs } from '../inbound/store.ts'
import { toTold } from '../inbound/told.ts'
import type { Acknowledge } from './acknowledge.ts'
import { createChats } from './chats.ts'
import { type FeedRef, keyOfFeed, lockFeeds, noteFeeds } from './feed-store.ts'
import { viewSubscriber } from './view.ts'

/** Where updates come from. */
export type Feed = FeedRef & { connectionId: ConnectionId; provider: string }

export type BotUpdates = {
  /**
   * Resolves when all updates are stored, so that they may be confirmed to the platform; repeats change
   * nothing. `lost`: the bot is gone, or another node holds it now, and nothing was stored. Rejects with
   * DatabaseUnavailable where they could not be stored; an update that the database refuses is logged and skipped.
   */
  take(feed: Feed, updates: readonly BotUpdate[]): Promise<'stored' | 'lost'>
  /** Applies what a send showed about a chat. */
  learn(update: SenderUpdate): Promise<void>
}

export type BotUpdatesDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  keep: KeepInbound
  /** Called when events for webhooks were stored. */
  told(): void
  /** Called when a button press was stored, not for repeats. */
  acknowledge: Acknowledge
}

type Item = { feed: Feed; update: BotUpdate }
/** `known`: a repeat, which was stored before. */
type Result = 'stored' | 'known' | 'lost' | { error: unknown }

const LONGEST_NAME = 255
/** Telegram's own limit is 64. */
const LONGEST_PAYLOAD = 500
const LONGEST_ID = 100

/** Stores bots' updates, many in one transaction, with all that follows from them. */
export function createBotUpdates(deps: BotUpdatesDeps): BotUpdates {
  const { db, clock, ids, log, keep, told } = deps
  const batcher = createBatcher<Item, Result>({ flush: writeOrSplit })

  /** An update that the database refuses fails alone; the others of its batch are stored. */
  async function writeOrSplit(items: Item[]): Promise<Result[]> {
    try {
      return await write(items)
    } catch (error) {
      if (error instanceof DatabaseUnavailable || items.length === 1) return items.map(() => ({ error }))
      const half = items.length >> 1
      return [...(await writeOrSplit(items.slice(0, half))), ...(await writeOrSplit(items.slice(half)))]
    }
  }

  async function write(items: readonly Item[]): Promise<Result[]> {
    let heard = 0
    const results = await db.transaction(async tx => {
      const held = await lockFeeds(
        tx,
        items.map(({ feed }) => feed),
      )
      const mine = items.filter(({ feed }) => held.has(keyOfFeed(feed)))
      const claimed = await claimRefs(tx, clock.now(), mine.map(refOf))
      const fresh = new Set(mine.filter((_, at) => claimed.has(at)))
      heard = await apply(tx, [...fresh])
      return items.map((item): Result => {
        if (!held.has(keyOfFeed(item.feed))) return 'lost'
        return fresh.has(item) ? 'stored' : 'known'
      })
    })
    if (heard > 0) told()
    acknowledge(items.filter((_, at) => results[at] === 'stored'))
    return results
  }

  function acknowledge(stored: readonly Item[]): void {
    for (const { feed, update } of stored) if (update.press !== null) deps.acknowledge(feed, update.press)
  }

  async function apply(tx: Db, items: readonly Item[]): Promise<number> {
    if (items.length === 0) return 0
    const nowMs = clock.now()
    const chats = await createChats(tx, items.flatMap(chatsOf))
    for (const { feed, update } of items)
      if (update.chat) chats.hear(feed, inBounds(update, update.chat), nowMs)
    await chats.store()
    await noteFeeds(
      tx,
      chats.changes(
        items.map(({ feed }) => feed),
        nowMs,
      ),
    )
    const events = await tell(tx, chats.events(), nowMs)
    return events + (await keep(tx, items.flatMap(toMessage)))
  }

  function tell(tx: Db, events: ReturnType<Awaited<ReturnType<typeof createChats>>['events']>, atMs: number) {
    return insertHeardEvents(
      tx,
      events.map(({ accountId, botId, type, chat }) => ({
        accountId,
        id: ids.next('evt'),
        type: `bot.subscriber.${type}` as const,
        atMs,
        data: viewSubscriber(botId, chat),
      })),
    )
  }

  async function learn({ accountId, senderId, change }: SenderUpdate): Promise<void> {
    if (change.kind === 'unauthorized') return
    const ref = { accountId: accountId as AccountId, botId: senderId as BotId, fence: null }
    const heard = await db.transaction(async tx => {
      if ((await lockFeeds(tx, [ref])).size === 0) return 0
      const chatIds = change.kind === 'moved' ? [change.chatId, change.to] : [change.chatId]
      const chats = await createChats(
        tx,
        chatIds.map(chatId => ({ ...ref, chatId })),
      )
      chats.learn(ref, change, clock.now())
      await chats.store()
      await noteFeeds(tx, chats.changes([ref], null))
      return tell(tx, chats.events(), clock.now())
    })
    if (heard > 0) told()
  }

  return {
    async take(feed, updates) {
      const results = await Promise.all(updates.map(update => batcher.add({ feed, update })))
      for (const result of results) {
        if (typeof result === 'string') continue
        if (result.error instanceof DatabaseUnavailable) throw result.error
        log.warn({ err: result.error }, 'an update of a bot could not be stored and is skipped')
      }
      return results.includes('lost') ? 'lost' : 'stored'
    },
    learn,
  }
}

function refOf({ feed, update }: Item): { connectionId: ConnectionId; providerId: string } {
  return { connectionId: feed.connectionId, providerId: eventIdOf(feed, update) }
}

/** The event id of an update and of its message, by which repeats are recognised. */
function eventIdOf({ botId }: Feed, { id }: BotUpdate): string {
  return `${botId}/${id}`
}

function chatsOf({ feed: { accountId, botId }, update: { chat, what } }: Item) {
  if (!chat) return []
  const chatIds = what?.kind === 'moved' ? [chat.chatId, what.to] : [chat.chatId]
  return chatIds.map(chatId => ({ accountId, botId, chatId }))
}

/** Removes NUL, which PostgreSQL cannot store, and cuts long names. */
function inBounds(update: BotUpdate, chat: BotChat): BotUpdate & { chat: BotChat } {
  const cut = (text: string | null, longest: number) => (text === null ? null : storable(text, longest))
  const { what } = update
  return {
    ...update,
    chat: {
      chatId: storable(chat.chatId, LONGEST_ID),
      userId: cut(chat.userId, LONGEST_ID),
      username: cut(chat.username, LONGEST_NAME),
      firstName: cut(chat.firstName, LONGEST_NAME),
      lastName: cut(chat.lastName, LONGEST_NAME),
    },
    what:
      what?.kind === 'message' && what.start
        ? { ...what, start: { payload: cut(what.start.payload, LONGEST_PAYLOAD) } }
        : what,
  }
}

function toMessage({ feed, update }: Item) {
  const { chat, what, atMs } = update
  if (!chat || what?.kind !== 'message') return []
  return [
    toTold(
      { id: feed.connectionId, provider: feed.provider },
      messageOf(feed, eventIdOf(feed, update), chat, what.message, atMs),
    ),
  ]
}

function messageOf(
  { accountId, botId }: Feed,
  eventId: string,
  chat: BotChat,
  { name, replyTo, ...said }: BotMessage,
  atMs: number | null,
): InboundMessage {
  return {
    kind: 'message',
    eventId,
    accountId,
    channel: 'botapp_bot',
    from: chat.chatId,
    to: botId,
    contact: { id: chat.userId, name },
    ...said,
    replyTo: replyTo === null ? null : botMessageId(botId, chat.chatId, replyTo),
    atMs,
  }
}

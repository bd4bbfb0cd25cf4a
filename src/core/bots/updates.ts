import type { SenderUpdate } from '../../channels/provider.ts'
import { type BotChat, type BotMessage, type BotUpdate, botMessageId } from '../../contract/bot-platform.ts'
import type { InboundMessage } from '../../contract/reported-message.ts'
import { createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { type Failure, writeOrSplit } from '../../infra/write-or-split.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, BotId, ConnectionId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { toStorableText } from '../../lib/storable.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import { toReceived } from '../inbound/received.ts'
import { claimRefs } from '../inbound/store.ts'
import type { StoreInbound } from '../inbound/store-inbound.ts'
import type { Acknowledge } from './acknowledge.ts'
import { loadChats } from './chats.ts'
import { type FeedRef, keyOfFeed, lockFeeds, updateFeeds } from './feed-store.ts'
import { viewSubscriber } from './view.ts'

/** Where updates come from. */
export type Feed = FeedRef & { connectionId: ConnectionId; provider: string }

export type BotUpdates = {
  /**
   * Resolves when all updates are stored, so that they may be confirmed to the platform; repeats change
   * nothing. `lost`: the bot is gone, or another node holds it now, and nothing was stored. Rejects with
   * DatabaseUnavailable where they could not be stored; an update that the database refuses is logged and skipped.
   */
  store(feed: Feed, updates: readonly BotUpdate[]): Promise<'stored' | 'lost'>
  /** Applies what a send showed about a chat. */
  applySendResult(update: SenderUpdate): Promise<void>
}

export type BotUpdatesDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  storeInbound: StoreInbound
  /** Called when events for webhooks were stored. */
  onEventsStored(): void
  /** Called when a button press was stored, or may have been; not for repeats. */
  acknowledge: Acknowledge
}

type Item = { feed: Feed; update: BotUpdate }
/** `known`: a repeat, which was stored before. */
type Result = 'stored' | 'known' | 'lost'

const MAX_NAME_LENGTH = 255
/** Telegram's own limit is 64. */
const MAX_PAYLOAD_LENGTH = 500
const MAX_ID_LENGTH = 100

/** Stores bots' updates, many in one transaction, with all that follows from them. */
export function createBotUpdates(deps: BotUpdatesDeps): BotUpdates {
  const { db, clock, ids, log, storeInbound, onEventsStored } = deps
  const batcher = createBatcher<Item, Result | Failure>({ flush: items => writeOrSplit(items, write) })

  async function write(items: readonly Item[]): Promise<Result[]> {
    let eventCount = 0
    /** What was stored, once only the COMMIT is left. */
    let stored: readonly Item[] = []
    const results = await db
      .transaction(async tx => {
        const held = await lockFeeds(
          tx,
          items.map(({ feed }) => feed),
        )
        const mine = items.filter(({ feed }) => held.has(keyOfFeed(feed)))
        const claimed = await claimRefs(tx, clock.now(), mine.map(refOf))
        const fresh = new Set(mine.filter((_, at) => claimed.has(at)))
        eventCount = await apply(tx, [...fresh])
        stored = [...fresh]
        return items.map((item): Result => {
          if (!held.has(keyOfFeed(item.feed))) return 'lost'
          return fresh.has(item) ? 'stored' : 'known'
        })
      })
      // Also if the COMMIT got no response: when the platform repeats them, they are known.
      .finally(() => acknowledge(stored))
    if (eventCount > 0) onEventsStored()
    return results
  }

  function acknowledge(stored: readonly Item[]): void {
    for (const { feed, update } of stored) if (update.press !== null) deps.acknowledge(feed, update.press)
  }

  async function apply(tx: Db, items: readonly Item[]): Promise<number> {
    if (items.length === 0) return 0
    const nowMs = clock.now()
    const chats = await loadChats(tx, items.flatMap(chatsOf))
    for (const { feed, update } of items)
      if (update.chat) chats.applyUpdate(feed, storableUpdate(update, update.chat), nowMs)
    await chats.store()
    await updateFeeds(
      tx,
      chats.changes(
        items.map(({ feed }) => feed),
        nowMs,
      ),
    )
    const events = await insertEvents(tx, chats.events(), nowMs)
    return events + (await storeInbound(tx, items.flatMap(toMessage)))
  }

  function insertEvents(
    tx: Db,
    events: ReturnType<Awaited<ReturnType<typeof loadChats>>['events']>,
    atMs: number,
  ) {
    return insertSubscribedEvents(
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

  async function applySendResult({ accountId, senderId, change }: SenderUpdate): Promise<void> {
    if (change.kind === 'unauthorized') return
    const ref = { accountId: accountId as AccountId, botId: senderId as BotId, fence: null }
    const eventCount = await db.transaction(async tx => {
      if ((await lockFeeds(tx, [ref])).size === 0) return 0
      const chatIds = change.kind === 'moved' ? [change.chatId, change.to] : [change.chatId]
      const chats = await loadChats(
        tx,
        chatIds.map(chatId => ({ ...ref, chatId })),
      )
      chats.applySendResult(ref, change, clock.now())
      await chats.store()
      await updateFeeds(tx, chats.changes([ref], null))
      return insertEvents(tx, chats.events(), clock.now())
    })
    if (eventCount > 0) onEventsStored()
  }

  return {
    async store(feed, updates) {
      const results = await Promise.all(updates.map(update => batcher.add({ feed, update })))
      for (const result of results) {
        if (typeof result === 'string') continue
        if (result.error instanceof DatabaseUnavailable) throw result.error
        log.warn({ err: result.error }, 'an update of a bot could not be stored and is skipped')
      }
      return results.includes('lost') ? 'lost' : 'stored'
    },
    applySendResult,
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
function storableUpdate(update: BotUpdate, chat: BotChat): BotUpdate & { chat: BotChat } {
  const cut = (text: string | null, longest: number) => (text === null ? null : toStorableText(text, longest))
  const { what } = update
  return {
    ...update,
    chat: {
      chatId: toStorableText(chat.chatId, MAX_ID_LENGTH),
      userId: cut(chat.userId, MAX_ID_LENGTH),
      username: cut(chat.username, MAX_NAME_LENGTH),
      firstName: cut(chat.firstName, MAX_NAME_LENGTH),
      lastName: cut(chat.lastName, MAX_NAME_LENGTH),
    },
    what:
      what?.kind === 'message' && what.start
        ? { ...what, start: { payload: cut(what.start.payload, MAX_PAYLOAD_LENGTH) } }
        : what,
  }
}

function toMessage({ feed, update }: Item) {
  const { chat, what, atMs } = update
  if (!chat || what?.kind !== 'message') return []
  return [
    toReceived(
      { id: feed.connectionId, provider: feed.provider },
      messageOf(feed, eventIdOf(feed, update), chat, what.message, atMs),
    ),
  ]
}

function messageOf(
  { accountId, botId }: Feed,
  eventId: string,
  chat: BotChat,
  { name, replyTo, ...content }: BotMessage,
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
    ...content,
    replyTo: replyTo === null ? null : botMessageId(botId, chat.chatId, replyTo),
    atMs,
  }
}

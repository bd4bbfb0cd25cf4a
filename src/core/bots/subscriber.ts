import type { BotChat, BotUpdate } from '../../contract/bot-platform.ts'
import { toStorableTime } from '../../lib/storable.ts'

/** A chat that started a bot. */
export type Subscriber = {
  chatId: string
  userId: string | null
  username: string | null
  firstName: string | null
  lastName: string | null
  startPayload: string | null
  /** All times in ms since the epoch. */
  startedAtMs: number
  lastSeenAtMs: number
  /** The id of the latest update. */
  lastUpdateId: number
  blockedAtMs: number | null
  /** The new chat id of a group that has moved. */
  movedTo: string | null
}

/** The events `bot.subscriber.…` */
export type SubscriberEvent = 'started' | 'blocked' | 'returned'

/** The state after an update; null where the chat is still no subscriber. */
export type SubscriberChange = { after: Subscriber | null; events: readonly SubscriberEvent[] }

/**
 * Applies an update to a subscriber. Pure. A person who writes to a bot has started it, since the platform allows
 * nothing else; a block ends the subscription, and any later message ends the block. Webhook calls
 * may overtake each other: an older update only adds a missing start payload.
 */
export function applyUpdate(
  before: Subscriber | null,
  update: BotUpdate & { chat: BotChat },
  nowMs: number,
): SubscriberChange {
  const { what } = update
  const atMs = updateTime(update.atMs, nowMs)
  if (before === null)
    return isStart(what)
      ? { after: newSubscriber(update, atMs), events: ['started'] }
      : { after: null, events: [] }
  const start = what?.kind === 'message' ? what.start : null
  if (isOlder(atMs, update.id, before)) return { after: withPayload(before, start), events: [] }
  const seen = { ...before, lastSeenAtMs: Math.max(atMs, before.lastSeenAtMs), lastUpdateId: update.id }
  switch (what?.kind) {
    case 'joined':
      return { after: reactivate(seen, update.chat, null), events: eventsOf(before, false) }
    case 'message':
      return { after: reactivate(seen, update.chat, start), events: eventsOf(before, start !== null) }
    case 'blocked':
      return {
        after: { ...seen, blockedAtMs: before.blockedAtMs ?? atMs },
        events: before.blockedAtMs === null ? ['blocked'] : [],
      }
    case 'returned':
      return { after: { ...seen, blockedAtMs: null }, events: eventsOf(before, false) }
    default:
      return { after: seen, events: [] }
  }
}

/** Applies a block that a refused send shows. Pure. The chat did nothing at that time, so it was not seen. */
export function markBlocked(before: Subscriber, nowMs: number): SubscriberChange {
  if (before.blockedAtMs !== null) return { after: before, events: [] }
  return { after: { ...before, blockedAtMs: updateTime(null, nowMs) }, events: ['blocked'] }
}

/** In whole seconds, as platforms report it; at most now, so that a platform's clock that is ahead does not make later updates look old. */
function updateTime(platformMs: number | null, nowMs: number): number {
  return Math.floor(Math.min(toStorableTime(platformMs) ?? nowMs, nowMs) / 1_000) * 1_000
}

function isStart(what: BotUpdate['what']): boolean {
  return what?.kind === 'message' || what?.kind === 'joined'
}

function newSubscriber({ chat, id, what }: BotUpdate & { chat: BotChat }, atMs: number): Subscriber {
  return {
    ...chat,
    startPayload: what?.kind === 'message' ? (what.start?.payload ?? null) : null,
    startedAtMs: atMs,
    lastSeenAtMs: atMs,
    lastUpdateId: id,
    blockedAtMs: null,
    movedTo: null,
  }
}

/**
 * Older only by both id and time. After an idle week ids may restart lower. And a button press has no time, so it
 * counts as of now, and updates that waited behind it are earlier than that.
 */
function isOlder(atMs: number, id: number, { lastSeenAtMs, lastUpdateId }: Subscriber): boolean {
  return id < lastUpdateId && atMs <= lastSeenAtMs
}

function withPayload(before: Subscriber, start: { payload: string | null } | null): Subscriber {
  return { ...before, startPayload: before.startPayload ?? start?.payload ?? null }
}

function reactivate(seen: Subscriber, chat: BotChat, start: { payload: string | null } | null): Subscriber {
  return { ...seen, ...chat, blockedAtMs: null, startPayload: start?.payload ?? seen.startPayload }
}

function eventsOf({ blockedAtMs }: Subscriber, started: boolean): SubscriberEvent[] {
  return [...(blockedAtMs === null ? [] : ['returned' as const]), ...(started ? ['started' as const] : [])]
}

/**
 * Moves a group to its new id: the old chat points to the new one, which is the subscriber. If a message of the new
 * chat overtook the move, the group still started when the old chat did.
 */
export function moveSubscriber(
  before: Subscriber,
  there: Subscriber | null,
  to: string,
): { left: Subscriber; now: Subscriber } {
  const now = { ...(there ?? before), chatId: to, movedTo: null }
  const startedAtMs = Math.min(before.startedAtMs, now.startedAtMs)
  const startPayload = now.startPayload ?? before.startPayload
  return { left: { ...before, movedTo: to }, now: { ...now, startedAtMs, startPayload } }
}

/** Whether a chat counts as a subscriber: one that has moved does not. */
export function isSubscriber(chat: Subscriber | null): boolean {
  return chat !== null && chat.movedTo === null
}

import type { BotChat, BotUpdate } from '../../contract/bot-platform.ts'
import { storableTime } from '../../lib/storable.ts'

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
  /** The update that this is from. */
  seenUpdate: number
  blockedAtMs: number | null
  /** The chat that this one has become. */
  movedTo: string | null
}

/** What is told to those who listen: `bot.subscriber.…` */
export type SubscriberEvent = 'started' | 'blocked' | 'returned'

/** What an update makes of a chat; null where it is no subscriber afterwards either. */
export type Heard = { after: Subscriber | null; events: readonly SubscriberEvent[] }

/**
 * What an update makes of a subscriber. Pure. Whoever writes to a bot has started it, since a platform lets
 * nobody write before; a block ends that, and any word from them after it ends the block. Calls of a platform
 * may overtake each other: an older one changes nothing but a payload that is missing.
 */
export function hear(before: Subscriber | null, update: BotUpdate & { chat: BotChat }, nowMs: number): Heard {
  const { what } = update
  const atMs = timeOf(update.atMs, nowMs)
  if (before === null)
    return beginsIt(what) ? { after: begin(update, atMs), events: ['started'] } : { after: null, events: [] }
  const start = what?.kind === 'message' ? what.start : null
  if (isOlder(atMs, update.id, before)) return { after: withPayload(before, start), events: [] }
  const seen = { ...before, lastSeenAtMs: Math.max(atMs, before.lastSeenAtMs), seenUpdate: update.id }
  switch (what?.kind) {
    case 'joined':
      return { after: speaks(seen, update.chat, null), events: eventsOf(before, false) }
    case 'message':
      return { after: speaks(seen, update.chat, start), events: eventsOf(before, start !== null) }
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

/** In whole seconds, as platforms tell it. A clock of theirs that runs ahead must not make all that follows old. */
function timeOf(saidMs: number | null, nowMs: number): number {
  return Math.floor(Math.min(storableTime(saidMs) ?? nowMs, nowMs) / 1_000) * 1_000
}

function beginsIt(what: BotUpdate['what']): boolean {
  return what?.kind === 'message' || what?.kind === 'joined'
}

function begin({ chat, id, what }: BotUpdate & { chat: BotChat }, atMs: number): Subscriber {
  return {
    ...chat,
    startPayload: what?.kind === 'message' ? (what.start?.payload ?? null) : null,
    startedAtMs: atMs,
    lastSeenAtMs: atMs,
    seenUpdate: id,
    blockedAtMs: null,
    movedTo: null,
  }
}

/**
 * By number and by time: after an idle week numbers may begin anew, and lower; and a button's press says no time, so
 * that it counts as of now, and what is told behind it, where updates have waited, was before that.
 */
function isOlder(atMs: number, id: number, { lastSeenAtMs, seenUpdate }: Subscriber): boolean {
  return id < seenUpdate && atMs <= lastSeenAtMs
}

function withPayload(before: Subscriber, start: { payload: string | null } | null): Subscriber {
  return { ...before, startPayload: before.startPayload ?? start?.payload ?? null }
}

function speaks(seen: Subscriber, chat: BotChat, start: { payload: string | null } | null): Subscriber {
  return { ...seen, ...chat, blockedAtMs: null, startPayload: start?.payload ?? seen.startPayload }
}

function eventsOf({ blockedAtMs }: Subscriber, started: boolean): SubscriberEvent[] {
  return [...(blockedAtMs === null ? [] : ['returned' as const]), ...(started ? ['started' as const] : [])]
}

/** A group that goes on under another id: what it was leads there, what it is now is the subscriber. */
export function move(
  before: Subscriber,
  there: Subscriber | null,
  to: string,
): { left: Subscriber; now: Subscriber } {
  return { left: { ...before, movedTo: to }, now: { ...(there ?? before), chatId: to, movedTo: null } }
}

/** Whether it counts: a chat that has become another one does not. */
export function isSubscriber(chat: Subscriber | null): boolean {
  return chat !== null && chat.movedTo === null
}

import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'
import { THROTTLE_MS } from '../http/verdict.ts'

/** Chats remembered. A forgotten chat counts as free; Telegram then refuses what is too early. */
const MAX_CHATS = 50_000
const MAX_BOTS = 10_000
/** The longest rest, even where Telegram asks for more. */
export const MAX_REST_MS = 3_600_000

export type Throttle = {
  afterMs: number
  /** `message`: only this chat rests; `account`: the whole bot, with the account's other bots on the connection. */
  scope: 'message' | 'account'
}

/** How long chats and bots rest after "too many requests"; knows only answers to this node. */
export type Pace = {
  /** Null where the message may go. */
  throttleOf(botId: string, chatId: string): Throttle | null
  /** Telegram said `retry_after`: whole seconds, so less than one counts as one. */
  recordThrottle(botId: string, chatId: string, afterMs: number): Throttle
}

/**
 * Telegram limits a bot per chat (a message a second, 20 a minute in a group) and in total (30 a
 * second), and does not say which limit was met. If a second chat is refused while another
 * one rests, the total limit is assumed. Source: https://core.telegram.org/bots/faq#broadcasting-to-users.
 */
export function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  const chats = createLru<string, number>(MAX_CHATS)
  const bots = createLru<string, { chatId: string; chatUntilMs: number; allUntilMs: number }>(MAX_BOTS)
  const keyOf = (botId: string, chatId: string) => `${botId} ${chatId}`

  function recordThrottle(botId: string, chatId: string, askedMs: number): Throttle {
    const afterMs = Math.min(Math.max(askedMs, THROTTLE_MS), MAX_REST_MS)
    const nowMs = clock.monotonic()
    // Answers may arrive out of order: the later end of the rest counts.
    const untilMs = Math.max(nowMs + afterMs, chats.get(keyOf(botId, chatId)) ?? 0)
    chats.set(keyOf(botId, chatId), untilMs)
    const bot = bots.get(botId)
    const another = bot !== undefined && bot.chatId !== chatId && bot.chatUntilMs > nowMs
    const allUntilMs = Math.max(another ? untilMs : 0, bot?.allUntilMs ?? 0)
    bots.set(botId, { chatId, chatUntilMs: untilMs, allUntilMs })
    return { afterMs, scope: another ? 'account' : 'message' }
  }

  return {
    throttleOf(botId, chatId) {
      const nowMs = clock.monotonic()
      const allMs = (bots.get(botId)?.allUntilMs ?? 0) - nowMs
      if (allMs > 0) return { afterMs: Math.ceil(allMs), scope: 'account' }
      const chatMs = (chats.get(keyOf(botId, chatId)) ?? 0) - nowMs
      return chatMs > 0 ? { afterMs: Math.ceil(chatMs), scope: 'message' } : null
    },
    recordThrottle,
  }
}

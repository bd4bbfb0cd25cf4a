import type { KeyMode } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { type BotConversation, type ChatRef, findConversations } from './subscriber-store.ts'

/** A bot and a chat, as in a conversationContext. */
export type ConversationRef = { accountId: string; chatId: string }

/** Looks up the bot and the chat that a send names; concurrent look-ups share a query. */
export type FindConversation = (
  accountId: AccountId,
  named: ConversationRef,
) => Promise<BotConversation | null>

export function createFindConversation({ db }: { db: Db }): FindConversation {
  const batcher = createBatcher<ChatRef, BotConversation | null>({
    flush: refs => findConversations(db, refs),
    maxConcurrentFlushes: 2,
  })
  return async (accountId, { accountId: botId, chatId }) =>
    isId('bot', botId) ? batcher.add({ accountId, botId, chatId: chatId.replaceAll('\0', '') }) : null
}

/** How a bot's message is sent; `simulated` where no real connection carries bots for this key. */
export type BotSend = { mode: KeyMode; connections: readonly ConnectionSnapshot[]; simulated: boolean }

/** The route of a bot's message: the chat, and the connections that may carry it. */
export type BotRoute = { chatId: string; connections: readonly ConnectionSnapshot[] }

/**
 * Checks a bot's conversation. Pure. Throws NOT_FOUND for a bot that is not the account's, a 400
 * for a chat that never started it, RECIPIENT_REJECTED for a chat that has blocked it. While sends are simulated, an
 * account id that is no bot id stands for a bot without registration, and any chat for a subscriber.
 */
export function routeBot(
  named: ConversationRef,
  found: BotConversation | null,
  { mode, connections, simulated }: BotSend,
): BotRoute {
  if (!found) {
    if (isId('bot', named.accountId) || !simulated) throw unknownBot()
    return { chatId: named.chatId, connections }
  }
  const { bot, chat } = found
  if (bot.sandbox && !simulated) {
    throw invalid(
      'conversationContext.accountId',
      'is a sandbox bot: live keys cannot send through it once a connection carries bots',
    )
  }
  if (bot.state === 'unauthorized') throw unauthorized()
  if (!chat)
    throw invalid(
      'conversationContext.chatId',
      'is not a subscriber of this bot: the user must start the bot first',
    )
  if (chat.blocked) throw blocked()
  return {
    chatId: chat.chatId,
    connections: bot.sandbox || mode === 'test' ? connections : connectionOf(bot, connections),
  }
}

/** A bot uses only the connection that it was registered with. */
function connectionOf({ connectionId }: BotConversation['bot'], connections: readonly ConnectionSnapshot[]) {
  return connections.filter(each => each.id === connectionId)
}

function unknownBot(): Problem {
  const message = 'Bot not found'
  return new Problem('NOT_FOUND', message, {
    details: [{ path: 'conversationContext.accountId', message }],
  })
}

function unauthorized(): Problem {
  const message =
    'the bot platform no longer accepts the token of this bot: register the bot again with its new token'
  return new Problem('MESSAGE_REJECTED', `conversationContext.accountId: ${message}`, {
    details: [{ path: 'conversationContext.accountId', message }],
  })
}

function blocked(): Problem {
  const message = 'has blocked this bot'
  return new Problem('RECIPIENT_REJECTED', `to: ${message}`, { details: [{ path: 'to', message }] })
}

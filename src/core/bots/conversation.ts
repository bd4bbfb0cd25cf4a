import type { KeyMode } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { type ChatRef, type Found, findConversations } from './subscriber-store.ts'

/** As a conversationContext names it. */
export type Named = { accountId: string; chatId: string }

/** What the store knows of a bot and a chat that a send names; those who ask at once share a query. */
export type FindConversation = (accountId: AccountId, named: Named) => Promise<Found | null>

export function createFindConversation({ db }: { db: Db }): FindConversation {
  const batcher = createBatcher<ChatRef, Found | null>({
    flush: refs => findConversations(db, refs),
    maxFlights: 2,
  })
  return async (accountId, { accountId: botId, chatId }) =>
    isId('bot', botId) ? batcher.add({ accountId, botId, chatId: chatId.replaceAll('\0', '') }) : null
}

/** Where a message of a bot may go: to which chat, and over which connections. */
export type BotRoute = { chatId: string; connections: readonly ConnectionSnapshot[] }

/**
 * Holds a bot's conversation against the store. Pure. Throws NOT_FOUND for a bot that is not the account's, a 400
 * for a chat that never started it, RECIPIENT_REJECTED for one that has blocked it. In the sandbox, where
 * nobody registered a bot, any other name stands for a bot, and any chat for a subscriber.
 */
export function routeBot(
  named: Named,
  found: Found | null,
  mode: KeyMode,
  connections: readonly ConnectionSnapshot[],
): BotRoute {
  if (!found) {
    if (isId('bot', named.accountId) || !isSimulated(mode, connections)) throw unknownBot()
    return { chatId: named.chatId, connections }
  }
  const { bot, chat } = found
  if (bot.sandbox && mode === 'live') {
    throw invalid('conversationContext.accountId', 'is a bot of the sandbox, where test keys alone send')
  }
  if (bot.state === 'unauthorized') throw unauthorized()
  if (!chat)
    throw invalid('conversationContext.chatId', 'is no subscriber of this bot: they must start it first')
  if (chat.blocked) throw blocked()
  return { chatId: chat.chatId, connections: mode === 'test' ? connections : ownOf(bot, connections) }
}

/** A bot goes over the connection that it was registered with, and over no other. */
function ownOf({ connectionId }: Found['bot'], connections: readonly ConnectionSnapshot[]) {
  return connections.filter(each => each.id === connectionId)
}

function isSimulated(mode: KeyMode, connections: readonly ConnectionSnapshot[]): boolean {
  return (
    mode === 'test' ||
    !connections.some(each => each.provider !== SANDBOX && each.channels.includes('botapp_bot'))
  )
}

function unknownBot(): Problem {
  const message = 'Bot not found'
  return new Problem('NOT_FOUND', message, {
    details: [{ path: 'conversationContext.accountId', message }],
  })
}

function unauthorized(): Problem {
  const message =
    'the bot platform does not take the token of this bot any more: register it with its new one'
  return new Problem('MESSAGE_REJECTED', `conversationContext.accountId: ${message}`, {
    details: [{ path: 'conversationContext.accountId', message }],
  })
}

function blocked(): Problem {
  const message = 'has blocked this bot'
  return new Problem('RECIPIENT_REJECTED', `to: ${message}`, { details: [{ path: 'to', message }] })
}

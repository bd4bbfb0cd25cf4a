import type { BotSubscriber, BotView } from '../../contract/bot.ts'
import { conversationKeyOf } from '../../contract/conversation.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { type BotId, timeOf } from '../../lib/ids.ts'
import type { BotWithFeed } from './store.ts'
import type { Subscriber } from './subscriber.ts'

export function viewBot(bot: BotWithFeed): BotView {
  return {
    id: bot.id,
    telegramUserId: bot.platformId,
    botappUserId: bot.platformId,
    username: bot.username,
    name: bot.name,
    state: bot.state,
    mode: bot.mode,
    problem: viewProblem(bot),
    sandbox: bot.sandbox,
    subscribers: bot.subscribers,
    lastUpdateAt: isoOrNull(bot.lastUpdateAtMs),
    createdAt: toIso(timeOf(bot.id)),
  }
}

function viewProblem({ problem }: BotWithFeed): BotView['problem'] {
  return problem && { code: problem.code, detail: problem.detail, since: toIso(problem.atMs) }
}

export function viewSubscriber(botId: BotId, chat: Subscriber): BotSubscriber {
  const place = { moduleType: 'botapp_bot', accountId: botId, chatId: chat.chatId } as const
  return {
    accountId: botId,
    chatId: chat.chatId,
    telegramUserId: chat.userId,
    botappUserId: chat.userId,
    username: chat.username,
    firstName: chat.firstName,
    lastName: chat.lastName,
    startPayload: chat.startPayload,
    startedAt: toIso(chat.startedAtMs),
    lastSeenAt: toIso(chat.lastSeenAtMs),
    blockedAt: isoOrNull(chat.blockedAtMs),
    conversationKey: conversationKeyOf(place),
    conversationContext: place,
  }
}

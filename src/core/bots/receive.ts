import { Problem } from '../../contract/errors.ts'
import type { InboundReceiver, InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import type { Platforms } from './platforms.ts'
import type { BotTokens } from './tokens.ts'
import type { BotUpdateModes } from './update-modes.ts'
import type { BotUpdates } from './updates.ts'

export type BotWebhooks = {
  /** Whether there is such a bot. */
  hasBot(botId: string): Promise<boolean>
  /** Takes a webhook call for a bot; resolves once it is stored. */
  receive(botId: string, request: InboundRequest): ReturnType<InboundReceiver['receive']>
}

export function createBotWebhooks(deps: {
  tokens: BotTokens
  platforms: Platforms
  updateModes: Pick<BotUpdateModes, 'secretOf'>
  updates: BotUpdates
}): BotWebhooks {
  return {
    hasBot: async botId => (await deps.tokens.find(botId)) !== null,

    async receive(botId, request) {
      const bot = request.method === 'POST' ? await deps.tokens.find(botId) : null
      if (!bot) return { kind: 'unknown' }
      const platform = deps.platforms.get(bot.connectionId)
      // Its connection is being opened, or was disabled: the platform repeats the call.
      if (!platform) throw new Problem('SERVICE_UNAVAILABLE')
      const given = request.headers[platform.bots.secretHeader] ?? ''
      if (!constantTimeEqual(given, deps.updateModes.secretOf(bot.id))) return { kind: 'unauthorized' }
      const update = platform.bots.parseUpdate(request.body)
      if (!update) return { kind: 'malformed', detail: 'the body is not an update' }
      const { accountId, connectionId } = bot
      const feed = { accountId, botId: bot.id, fence: null, connectionId, provider: platform.provider }
      const taken = await deps.updates.store(feed, [update])
      return taken === 'lost' ? { kind: 'unknown' } : { kind: 'stored' }
    },
  }
}

import { Type } from 'typebox'
import { SubscriberPage, SubscriberQuery } from '../../contract/bot.ts'
import type { BotSubscribers } from '../../core/bots/subscribers.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/botapp-bots/{botId}/subscribers` */
export const botappBotsSubscribers = (deps: { botSubscribers: BotSubscribers }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/botapp-bots/:botId/subscribers',
    auth: {},
    schema: {
      summary: 'List the subscribers of a bot',
      description: 'Newest first. The `conversationContext` of each can be used in a send.',
      tags: ['Bots'],
      params: Type.Object({ botId: Type.String() }),
      querystring: SubscriberQuery,
      errors: ['NOT_FOUND'],
      response: { 200: SubscriberPage },
    },
    handler: request => deps.botSubscribers.list(request.caller, request.params.botId, request.query),
  })

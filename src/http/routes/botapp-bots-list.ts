import { BotView } from '../../contract/bot.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import type { Bots } from '../../core/bots/bots.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/botapp-bots` */
export const botappBotsList = (deps: { bots: Bots }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/botapp-bots',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the bots',
      tags: ['Bots'],
      querystring: pageQuery({}),
      response: { 200: page(BotView) },
    },
    handler: request => deps.bots.list(request.caller, request.query),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Bots } from '../../core/bots/bots.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/botapp-bots/{botId}` */
export const botappBotsDelete = (deps: { bots: Bots }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/botapp-bots/:botId',
    auth: { permission: 'messages:create' },
    audit: { action: 'bot.delete' },
    schema: {
      summary: 'Remove a bot',
      description: 'Also deletes its subscribers. Waiting messages of the bot fail.',
      tags: ['Bots'],
      params: Type.Object({ botId: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.bots.remove(request.caller, request.params.botId),
    }),
  })

import { Type } from 'typebox'
import { BotCreate, BotView } from '../../contract/bot.ts'
import { success } from '../../contract/envelope.ts'
import type { Bots } from '../../core/bots/bots.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/botapp-bots` */
export const botappBotsCreate = (deps: { bots: Bots }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/botapp-bots',
    auth: { permission: 'messages:create' },
    audit: { action: 'bot.create' },
    schema: {
      summary: 'Register a bot',
      description:
        'Checks the token with the platform; the token is never returned. For a bot that the account ' +
        'already has, stores the new token. With a test key, and with a live key while no connection ' +
        'carries the channel, the bot is in the sandbox.',
      tags: ['Bots'],
      answerHeaders: ['X-Sandbox'],
      body: BotCreate,
      errors: ['CONFLICT', 'PROVIDER_UNAVAILABLE'],
      response: { 201: success(Type.Object({ bot: BotView })) },
    },
    handler: async (request, reply) => {
      const bot = await deps.bots.register(request.caller, request.body)
      reply.code(201)
      if (bot.sandbox) reply.header('X-Sandbox', 'true')
      return { success: true, data: { bot } }
    },
  })

import { page } from '../../contract/envelope.ts'
import { Message, MessageQuery } from '../../contract/message.ts'
import type { Messages } from '../../core/messages/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages`: the account's messages, newest first. */
export const messagesList = (deps: { messages: Messages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'List messages',
      tags: ['Messages'],
      querystring: MessageQuery,
      response: { 200: page(Message) },
    },
    handler: request => deps.messages.list(request.caller, request.query),
  })

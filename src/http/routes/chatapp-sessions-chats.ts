import { page } from '../../contract/envelope.ts'
import { WebSessionChat, WebSessionChatQuery, WebSessionParams } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/chatapp-sessions/{name}/chats` */
export const chatappSessionsChats = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/chatapp-sessions/:name/chats',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the chats of a web session',
      description:
        'The people and groups that the session knows so far, each with a `conversationContext` for a ' +
        'send.',
      tags: ['Web sessions'],
      params: WebSessionParams,
      querystring: WebSessionChatQuery,
      errors: ['NOT_FOUND'],
      response: { 200: page(WebSessionChat) },
    },
    handler: request => deps.webSessions.chats(request.caller, request.params.name, request.query),
  })

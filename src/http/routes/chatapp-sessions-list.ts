import { page, pageQuery } from '../../contract/envelope.ts'
import { WebSessionRow } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/chatapp-sessions` */
export const chatappSessionsList = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/chatapp-sessions',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the web sessions',
      description: 'Newest first. Test keys have sessions of their own, in the sandbox.',
      tags: ['Web sessions'],
      querystring: pageQuery({}),
      response: { 200: page(WebSessionRow) },
    },
    handler: request => deps.webSessions.list(request.caller, request.query),
  })

import { success } from '../../contract/envelope.ts'
import { WebSessionParams, WebSessionView } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/chatapp-sessions/{name}` */
export const chatappSessionsRead = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/chatapp-sessions/:name',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Read a web session',
      description:
        'While the session waits to be linked, includes its QR code as text and SVG, or its pairing ' +
        'code.',
      tags: ['Web sessions'],
      params: WebSessionParams,
      errors: ['NOT_FOUND'],
      response: { 200: success(WebSessionView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webSessions.read(request.caller, request.params.name),
    }),
  })

import { success } from '../../contract/envelope.ts'
import { WebSessionParams, WebSessionView } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/chatapp-sessions/{name}/restart` */
export const chatappSessionsRestart = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/chatapp-sessions/:name/restart',
    auth: { permission: 'messages:create' },
    audit: { action: 'web_session.restart' },
    schema: {
      summary: 'Restart a web session',
      description:
        'Connects the session again. If it was logged out, or was not linked in time, it starts to be ' +
        'linked again. One that is in the sandbox starts to be linked if a connection carries the channel by now.',
      tags: ['Web sessions'],
      params: WebSessionParams,
      errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
      response: { 200: success(WebSessionView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webSessions.restart(request.caller, request.params.name),
    }),
  })

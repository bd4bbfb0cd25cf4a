import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebSessionParams } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/chatapp-sessions/{name}` */
export const chatappSessionsDelete = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/chatapp-sessions/:name',
    auth: { permission: 'messages:create' },
    audit: { action: 'web_session.delete' },
    schema: {
      summary: 'Delete a web session',
      description:
        "The name can be used again at once. Within seconds, the session is removed from the phone's " +
        'linked devices and its keys are deleted.',
      tags: ['Web sessions'],
      params: WebSessionParams,
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ name: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webSessions.remove(request.caller, request.params.name),
    }),
  })

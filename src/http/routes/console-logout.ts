import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Sessions } from '../../core/people/sessions.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'

/** `POST /api/console/logout` */
export const consoleLogout = (deps: { sessions: Sessions; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/logout',
    auth: { session: true },
    schema: {
      summary: 'Sign out',
      tags: ['Console'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(Type.Object({ signedOut: Type.Literal(true) })) },
    },
    handler: async (request, reply) => {
      await deps.sessions.end(request.signedIn, request.signedIn.sessionId)
      deps.cookies.clear(reply)
      return { success: true, data: { signedOut: true } }
    },
  })

import { SessionView } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { Sessions } from '../../core/people/sessions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/console/session`: the person who is signed in */
export const consoleSessionRead = (deps: { sessions: Sessions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/console/session',
    auth: { session: true },
    schema: {
      summary: 'Read the signed-in person',
      description: 'Includes the token that every request except GET must carry as `X-CSRF-Token`.',
      tags: ['Console'],
      response: { 200: success(SessionView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.sessions.view(request.signedIn),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Sessions } from '../../core/people/sessions.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/console/sessions/{id}` */
export const consoleSessionsEnd = (deps: { sessions: Sessions }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/console/sessions/:id',
    auth: { session: true },
    audit: { action: 'login.session_end' },
    schema: {
      summary: 'End one of your sessions',
      description: 'The session ends on every node within a second.',
      tags: ['Console'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(Type.Object({ id: Type.String(), ended: Type.Literal(true) })) },
    },
    handler: async request => {
      const { id } = request.params
      await deps.sessions.end(request.signedIn, id)
      return { success: true, data: { id, ended: true } }
    },
  })

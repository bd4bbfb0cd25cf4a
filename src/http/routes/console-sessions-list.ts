import { Type } from 'typebox'
import { SessionRow } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { Sessions } from '../../core/people/sessions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/console/sessions` */
export const consoleSessionsList = (deps: { sessions: Sessions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/console/sessions',
    auth: { session: true },
    schema: {
      summary: 'List your sessions',
      tags: ['Console'],
      response: { 200: success(Type.Array(SessionRow)) },
    },
    handler: async request => ({
      success: true,
      data: await deps.sessions.list(request.signedIn),
    }),
  })

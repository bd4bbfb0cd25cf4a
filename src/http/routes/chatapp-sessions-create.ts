import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebSessionCreate, WebSessionView } from '../../contract/web-session.ts'
import type { WebSessions } from '../../core/sessions/sessions.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/chatapp-sessions` */
export const chatappSessionsCreate = (deps: { webSessions: WebSessions }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/chatapp-sessions',
    auth: { permission: 'messages:create' },
    audit: { action: 'web_session.create', bodyFields: ['name'], target: 'name' },
    schema: {
      summary: 'Create a web session',
      description:
        'Links a WhatsApp account by a QR code or, with `phone`, by a code to enter on that phone. ' +
        'WhatsApp may ban the number: read `notice`. With a test key, and with a live key while no connection ' +
        'carries the channel, the session is in the sandbox: open at once, without a phone.',
      tags: ['Web sessions'],
      answerHeaders: ['X-Sandbox'],
      body: WebSessionCreate,
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      response: { 201: success(Type.Object({ session: WebSessionView })) },
    },
    handler: async (request, reply) => {
      const session = await deps.webSessions.create(request.caller, request.body)
      reply.code(201)
      if (session.sandbox) reply.header('X-Sandbox', 'true')
      return { success: true, data: { session } }
    },
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { SuppressionCreate, SuppressionView } from '../../contract/suppression.ts'
import type { Suppressions } from '../../core/consent/suppressions.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/suppressions` */
export const suppressionsCreate = (deps: { suppressions: Suppressions }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/suppressions',
    auth: { permission: 'messages:create' },
    audit: { action: 'suppression.create', bodyFields: ['to', 'channel', 'reason'] },
    schema: {
      summary: 'Suppress a recipient',
      description:
        'Marketing messages to this recipient are refused from now on, on one channel or on all. An ' +
        'existing suppression is returned unchanged.',
      tags: ['Suppressions'],
      body: SuppressionCreate,
      errors: ['CONFLICT'],
      response: { 201: success(Type.Object({ suppression: SuppressionView })) },
    },
    handler: async (request, reply) => {
      const suppression = await deps.suppressions.create(request.caller, request.body)
      reply.code(201)
      return { success: true, data: { suppression } }
    },
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/webhooks/{id}` */
export const webhooksDelete = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/webhooks/:id',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.delete' },
    schema: {
      summary: 'Remove a webhook endpoint',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webhooks.remove(request.caller, request.params.id),
    }),
  })

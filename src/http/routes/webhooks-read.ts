import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebhookView } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/webhooks/{id}` */
export const webhooksRead = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/webhooks/:id',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Read a webhook endpoint',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(WebhookView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webhooks.read(request.caller, request.params.id),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebhookWithSecret } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks/{id}/rotate` */
export const webhooksRotate = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks/:id/rotate',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.rotate' },
    schema: {
      summary: 'Give a webhook endpoint a new secret',
      description:
        'Only this response contains the new secret. For 24 hours, deliveries are signed with the old ' +
        'secret too.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(WebhookWithSecret) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webhooks.rotate(request.caller, request.params.id),
    }),
  })

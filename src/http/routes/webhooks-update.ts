import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebhookUpdate, WebhookView } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/v2/webhooks/{id}` */
export const webhooksUpdate = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/v2/webhooks/:id',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.update', bodyFields: ['url', 'description', 'events', 'enabled'] },
    schema: {
      summary: 'Change a webhook endpoint',
      description:
        'Disabling the endpoint cancels its waiting deliveries. Once enabled again, it receives new ' +
        'events; a replay sends the missed ones.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      body: WebhookUpdate,
      errors: ['NOT_FOUND'],
      response: { 200: success(WebhookView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.webhooks.update(request.caller, request.params.id, request.body),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WebhookCreate, WebhookWithSecret } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks` */
export const webhooksCreate = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.create', bodyFields: ['url', 'description', 'events', 'enabled'] },
    schema: {
      summary: 'Create a webhook endpoint',
      description:
        'Only this response contains the secret. Without `events`, the endpoint receives every ' + 'event.',
      tags: ['Webhooks'],
      body: WebhookCreate,
      errors: ['CONFLICT'],
      response: { 201: success(Type.Object({ webhook: WebhookWithSecret })) },
    },
    handler: async (request, reply) => {
      const webhook = await deps.webhooks.create(request.caller, request.body)
      reply.code(201)
      return { success: true, data: { webhook } }
    },
  })

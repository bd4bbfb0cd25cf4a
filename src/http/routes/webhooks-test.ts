import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { DeliveryView } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks/{id}/test` */
export const webhooksTest = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks/:id/test',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Send a test event to a webhook endpoint',
      description:
        'Sends a `webhook.test` event now, in the same way as every event; the list of deliveries shows ' +
        'the result.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(Type.Object({ delivery: DeliveryView })) },
    },
    handler: async (request, reply) => {
      const delivery = await deps.webhooks.test(request.caller, request.params.id)
      reply.code(201)
      return { success: true, data: { delivery } }
    },
  })

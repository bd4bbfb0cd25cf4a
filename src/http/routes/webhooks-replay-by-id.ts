import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { DeliveryView } from '../../contract/webhook.ts'
import type { WebhookDeliveries } from '../../core/callbacks/deliveries.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks/deliveries/{deliveryId}/replay` */
export const webhooksReplayById = (deps: { webhookDeliveries: WebhookDeliveries }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks/deliveries/:deliveryId/replay',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.replay', target: 'deliveryId' },
    schema: {
      summary: 'Send one event again, to the endpoint of the delivery',
      description:
        'The same as `POST /api/v2/webhooks/{id}/deliveries/{deliveryId}/replay`, without the id of the endpoint.',
      tags: ['Webhooks'],
      params: Type.Object({ deliveryId: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(Type.Object({ delivery: DeliveryView })) },
    },
    handler: async (request, reply) => {
      const delivery = await deps.webhookDeliveries.replayById(request.caller, request.params.deliveryId)
      reply.code(201)
      return { success: true, data: { delivery } }
    },
  })

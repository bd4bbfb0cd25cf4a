import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { DeliveryView } from '../../contract/webhook.ts'
import type { WebhookDeliveries } from '../../core/callbacks/deliveries.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks/{id}/deliveries/{deliveryId}/replay` */
export const webhooksReplayOne = (deps: { webhookDeliveries: WebhookDeliveries }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks/:id/deliveries/:deliveryId/replay',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.replay', target: 'deliveryId' },
    schema: {
      summary: 'Send one event again',
      description: 'With the same `webhook-id`, whatever the result of the earlier delivery.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String(), deliveryId: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(Type.Object({ delivery: DeliveryView })) },
    },
    handler: async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await deps.webhookDeliveries.replay(request.caller, id, deliveryId)
      reply.code(201)
      return { success: true, data: { delivery } }
    },
  })

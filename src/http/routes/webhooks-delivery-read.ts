import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { DeliveryWithPayload } from '../../contract/webhook.ts'
import type { WebhookDeliveries } from '../../core/callbacks/deliveries.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/webhooks/{id}/deliveries/{deliveryId}` */
export const webhooksDeliveryRead = (deps: { webhookDeliveries: WebhookDeliveries }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/webhooks/:id/deliveries/:deliveryId',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Read a delivery with its payload',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String(), deliveryId: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(DeliveryWithPayload) },
    },
    handler: async request => {
      const { id, deliveryId } = request.params
      return { success: true, data: await deps.webhookDeliveries.read(request.caller, id, deliveryId) }
    },
  })

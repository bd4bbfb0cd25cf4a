import { Type } from 'typebox'
import { page } from '../../contract/envelope.ts'
import { DeliveryQuery, DeliveryView } from '../../contract/webhook.ts'
import type { WebhookDeliveries } from '../../core/callbacks/deliveries.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/webhooks/{id}/deliveries` */
export const webhooksDeliveries = (deps: { webhookDeliveries: WebhookDeliveries }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/webhooks/:id/deliveries',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the deliveries of a webhook endpoint',
      description: 'Newest first.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      querystring: DeliveryQuery,
      errors: ['NOT_FOUND'],
      response: { 200: page(DeliveryView) },
    },
    handler: request => deps.webhookDeliveries.list(request.caller, request.params.id, request.query),
  })

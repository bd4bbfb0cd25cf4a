import { Type } from 'typebox'
import { WebhookReplay, WebhookReplayed } from '../../contract/webhook.ts'
import type { WebhookDeliveries } from '../../core/callbacks/deliveries.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/webhooks/{id}/replay` */
export const webhooksReplay = (deps: { webhookDeliveries: WebhookDeliveries }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/webhooks/:id/replay',
    auth: { permission: 'messages:create' },
    audit: { action: 'webhook.replay', bodyFields: ['from', 'to', 'events'] },
    schema: {
      summary: 'Send the events of a time range again',
      description:
        "The events from `from` to before `to`, of the endpoint's event types unless `events` is given, " +
        'each with its own `webhook-id`. One request queues at most 5,000; if there are more, pass ' +
        '`nextCursor` to continue. Only events that an endpoint subscribed to at the time are stored.',
      tags: ['Webhooks'],
      params: Type.Object({ id: Type.String() }),
      body: WebhookReplay,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 202: WebhookReplayed },
    },
    handler: async (request, reply) => {
      const answer = await deps.webhookDeliveries.replayRange(request.caller, request.params.id, request.body)
      reply.code(202)
      return answer
    },
  })

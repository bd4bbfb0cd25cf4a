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
    audit: { action: 'webhook.replay', keeps: ['from', 'to'] },
    schema: {
      summary: 'Send the events of a time once more',
      description:
        'From `from` on and before `to`, of the types that the endpoint listens to unless `types` says otherwise, each with its own `webhook-id`. ' +
        'A request queues at most 5,000; where there are more, `nextCursor` goes on. Only events exist to which somebody listened when they happened.',
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

import { page, pageQuery } from '../../contract/envelope.ts'
import { WebhookView } from '../../contract/webhook.ts'
import type { Webhooks } from '../../core/callbacks/endpoints.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/webhooks` */
export const webhooksList = (deps: { webhooks: Webhooks }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/webhooks',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the webhook endpoints',
      tags: ['Webhooks'],
      querystring: pageQuery({}),
      response: { 200: page(WebhookView) },
    },
    handler: request => deps.webhooks.list(request.caller, request.query),
  })

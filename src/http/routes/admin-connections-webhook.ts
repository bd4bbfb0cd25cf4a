import { Type } from 'typebox'
import { ConnectionWebhook } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { WebhookAddresses } from '../../core/connections/webhook-address.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/connections/{id}/webhook` */
export const adminConnectionsWebhook = (deps: { webhookAddresses: WebhookAddresses }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/connections/:id/webhook',
    auth: { operator: true },
    schema: {
      summary: 'Read the webhook URL of a connection',
      description:
        'The URL at which the provider delivers inbound messages, to be configured at the provider. If ' +
        'the provider does not sign its calls, whoever knows the URL can send in its name.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(ConnectionWebhook) },
    },
    handler: async request => ({ success: true, data: await deps.webhookAddresses.of(request.params.id) }),
  })

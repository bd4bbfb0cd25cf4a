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
      summary: 'Where the provider may call a connection',
      description:
        'For messages from people: it is given to the provider by hand. Whoever knows it may speak for a provider that does not sign.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(ConnectionWebhook) },
    },
    handler: async request => ({ success: true, data: await deps.webhookAddresses.of(request.params.id) }),
  })

import { success } from '../../contract/envelope.ts'
import { QueuesView } from '../../contract/operations.ts'
import type { Operations } from '../../core/overview/operations.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/queues` */
export const adminQueuesRead = (deps: { operations: Operations }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/queues',
    auth: { operator: true },
    schema: {
      summary: 'Read the queues',
      description: 'The number of waiting messages per connection, and how long they have waited.',
      tags: ['Operator'],
      response: { 200: success(QueuesView) },
    },
    handler: async () => ({ success: true, data: await deps.operations.queues() }),
  })

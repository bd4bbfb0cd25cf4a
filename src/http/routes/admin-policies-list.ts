import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { AdminPolicy } from '../../contract/operations.ts'
import type { Operations } from '../../core/overview/operations.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/policies` */
export const adminPoliciesList = (deps: { operations: Operations }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/policies',
    auth: { operator: true },
    schema: {
      summary: 'List the policies of all connections',
      description:
        'One entry per connection and channel, in the order in which they are tried. Change them by ' +
        '`PATCH /api/admin/connections/{id}`.',
      tags: ['Operator'],
      response: { 200: success(Type.Array(AdminPolicy)) },
    },
    handler: async () => ({ success: true, data: await deps.operations.policies() }),
  })

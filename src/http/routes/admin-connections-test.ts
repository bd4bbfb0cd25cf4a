import { Type } from 'typebox'
import { ConnectionTest } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { ConnectionAdmin } from '../../core/connections/admin.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/connections/{id}/test` */
export const adminConnectionsTest = (deps: { connectionAdmin: ConnectionAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/connections/:id/test',
    auth: { operator: true },
    schema: {
      summary: 'Test a connection',
      description: 'Asks the provider whether the stored configuration works; sends nothing.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(ConnectionTest) },
    },
    handler: async request => ({ success: true, data: await deps.connectionAdmin.test(request.params.id) }),
  })

import { Type } from 'typebox'
import { ConnectionRemoved } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { ConnectionAdmin } from '../../core/connections/admin.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/connections/{id}` */
export const adminConnectionsDelete = (deps: { connectionAdmin: ConnectionAdmin }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/connections/:id',
    auth: { operator: true },
    audit: { action: 'connection.delete' },
    schema: {
      summary: 'Remove a connection',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(ConnectionRemoved) },
    },
    handler: async request => ({ success: true, data: await deps.connectionAdmin.remove(request.params.id) }),
  })

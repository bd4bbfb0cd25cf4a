import { Type } from 'typebox'
import { ConnectionUpdate, ConnectionView } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { ConnectionAdmin } from '../../core/connections/admin.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/admin/connections/{id}` */
export const adminConnectionsUpdate = (deps: { connectionAdmin: ConnectionAdmin }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/admin/connections/:id',
    auth: { operator: true },
    audit: {
      action: 'connection.update',
      bodyFields: [
        'name',
        'channels',
        'priorityOrder',
        'retryPolicy',
        'allowedTypes',
        'sendModeByType',
        'enabled',
      ],
    },
    schema: {
      summary: 'Change a connection',
      description: 'The fields of `config` are merged into the stored ones; `null` clears a field.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: ConnectionUpdate,
      errors: ['NOT_FOUND'],
      response: { 200: success(ConnectionView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.connectionAdmin.update(request.params.id, request.body),
    }),
  })

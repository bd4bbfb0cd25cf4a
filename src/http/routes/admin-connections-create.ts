import { Type } from 'typebox'
import { ConnectionCreate, ConnectionView } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { ConnectionAdmin } from '../../core/connections/admin.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/connections` */
export const adminConnectionsCreate = (deps: { connectionAdmin: ConnectionAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/connections',
    auth: { operator: true },
    audit: {
      action: 'connection.create',
      bodyFields: [
        'provider',
        'name',
        'channels',
        'accountId',
        'priorityOrder',
        'retryPolicy',
        'allowedTypes',
        'sendModeByType',
        'enabled',
      ],
    },
    schema: {
      summary: 'Connect a provider',
      description:
        'The secrets of `config` are encrypted at rest and never returned; `secretsSet` names those that ' +
        'have a value.',
      tags: ['Operator'],
      body: ConnectionCreate,
      errors: ['NOT_FOUND'],
      response: { 201: success(Type.Object({ connection: ConnectionView })) },
    },
    handler: async (request, reply) => {
      const connection = await deps.connectionAdmin.create(request.body)
      reply.code(201)
      return { success: true, data: { connection } }
    },
  })

import { Type } from 'typebox'
import { AdminKey, KeyCreate } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'
import { actorOf } from '../visit.ts'

/** `POST /api/admin/accounts/{id}/keys` */
export const adminKeysCreate = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/accounts/:id/keys',
    auth: { operator: true },
    audit: { action: 'api_key.create', bodyFields: ['name', 'mode', 'role', 'permissions', 'expiresAt'] },
    schema: {
      summary: 'Create an API key',
      description: 'Only this response contains `apiKey`.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: KeyCreate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(Type.Object({ key: AdminKey, apiKey: Type.String() })) },
    },
    handler: async (request, reply) => {
      const data = await deps.accountAdmin.createKey(request.params.id, request.body, actorOf(request))
      reply.code(201)
      return { success: true, data }
    },
  })

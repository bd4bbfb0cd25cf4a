import { Type } from 'typebox'
import { AdminKey } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/accounts/{id}/keys/{keyId}` */
export const adminKeysRevoke = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/accounts/:id/keys/:keyId',
    auth: { operator: true },
    audit: { action: 'api_key.revoke' },
    schema: {
      summary: 'Revoke an API key',
      description: 'The key stops working on every node within a second. Revoking it again changes nothing.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String(), keyId: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(AdminKey) },
    },
    handler: async request => ({
      success: true,
      data: await deps.accountAdmin.revokeKey(request.params.id, request.params.keyId),
    }),
  })

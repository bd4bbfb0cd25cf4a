import { Type } from 'typebox'
import { ApiKey } from '../../contract/api-key.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnKeys } from '../../core/accounts/own-keys.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/api-keys/{id}` */
export const apiKeysRevoke = (deps: { ownKeys: OwnKeys }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/api-keys/:id',
    auth: { permission: 'api_keys:write' },
    audit: { action: 'api_key.revoke' },
    schema: {
      summary: 'Revoke an API key',
      description: 'The key stops working on every node within a second. Revoking it again changes nothing.',
      tags: ['API keys'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(ApiKey) },
    },
    handler: async request => ({
      success: true,
      data: await deps.ownKeys.revoke(request.caller, request.params.id),
    }),
  })

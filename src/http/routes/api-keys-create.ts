import { ApiKeyCreate, ApiKeyMade } from '../../contract/api-key.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnKeys } from '../../core/accounts/own-keys.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/api-keys` */
export const apiKeysCreate = (deps: { ownKeys: OwnKeys }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/api-keys',
    auth: { permission: 'api_keys:write' },
    audit: { action: 'api_key.create', bodyFields: ['name', 'mode', 'role', 'permissions', 'expiresAt'] },
    schema: {
      summary: 'Create an API key',
      description:
        'Only this response contains `apiKey`. The new key cannot have permissions that its creator ' +
        'lacks, nor expire later than the key that creates it: 403.',
      tags: ['API keys'],
      body: ApiKeyCreate,
      errors: ['CONFLICT'],
      response: { 201: success(ApiKeyMade) },
    },
    handler: async (request, reply) => {
      const data = await deps.ownKeys.create(request.caller, request.body)
      reply.code(201)
      return { success: true, data }
    },
  })

import { Type } from 'typebox'
import { ApiKeyRotate, ApiKeyRotated } from '../../contract/api-key.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnKeys } from '../../core/accounts/own-keys.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/api-keys/{id}/rotate` */
export const apiKeysRotate = (deps: { ownKeys: OwnKeys }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/api-keys/:id/rotate',
    auth: { permission: 'api_keys:write' },
    audit: { action: 'api_key.rotate', bodyFields: ['overlapSeconds'], responseFields: ['previous'] },
    bodyOptional: true,
    schema: {
      summary: 'Rotate an API key',
      description:
        'Creates a new key with the same permissions. The old key stays valid for `overlapSeconds`.',
      tags: ['API keys'],
      params: Type.Object({ id: Type.String() }),
      body: ApiKeyRotate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(ApiKeyRotated) },
    },
    handler: async (request, reply) => {
      const data = await deps.ownKeys.rotate(request.caller, request.params.id, request.body)
      reply.code(201)
      return { success: true, data }
    },
  })

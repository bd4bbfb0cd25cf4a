import { Type } from 'typebox'
import { ApiKeyRotate, ApiKeyRotated } from '../../contract/api-key.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'
import { actorOf } from '../visit.ts'

/** `POST /api/admin/accounts/{id}/keys/{keyId}/rotate` */
export const adminKeysRotate = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/accounts/:id/keys/:keyId/rotate',
    auth: { operator: true },
    audit: { action: 'api_key.rotate', bodyFields: ['overlapSeconds'], responseFields: ['previous'] },
    bodyOptional: true,
    schema: {
      summary: 'Rotate an API key of an account',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String(), keyId: Type.String() }),
      body: ApiKeyRotate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(ApiKeyRotated) },
    },
    handler: async (request, reply) => {
      const data = await deps.accountAdmin.rotateKey(
        request.params.id,
        request.params.keyId,
        request.body,
        actorOf(request),
      )
      reply.code(201)
      return { success: true, data }
    },
  })

import { Type } from 'typebox'
import { ApiKey } from '../../contract/api-key.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import type { OwnKeys } from '../../core/accounts/own-keys.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/api-keys` */
export const apiKeysList = (deps: { ownKeys: OwnKeys }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/api-keys',
    auth: { permission: 'api_keys:read' },
    schema: {
      summary: 'List API keys',
      description: 'Newest first, without the keys themselves.',
      tags: ['API keys'],
      querystring: pageQuery({
        active: Type.Optional(
          Type.Boolean({ description: 'Only keys that work: neither revoked nor expired' }),
        ),
      }),
      response: { 200: page(ApiKey) },
    },
    handler: request => deps.ownKeys.list(request.caller, request.query),
  })

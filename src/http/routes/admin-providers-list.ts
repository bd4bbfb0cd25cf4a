import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { ProviderView } from '../../contract/operations.ts'
import type { Operations } from '../../core/overview/operations.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/providers` */
export const adminProvidersList = (deps: { operations: Operations }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/providers',
    auth: { operator: true },
    schema: {
      summary: 'List the providers',
      description: 'The channels of each provider, and the JSON Schema of its configuration.',
      tags: ['Operator'],
      response: { 200: success(Type.Array(ProviderView)) },
    },
    handler: async () => ({ success: true, data: deps.operations.providers() }),
  })

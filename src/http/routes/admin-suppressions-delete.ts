import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Suppressions } from '../../core/consent/suppressions.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/suppressions/{id}` */
export const adminSuppressionsDelete = (deps: { suppressions: Suppressions }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/suppressions/:id',
    auth: { operator: true },
    audit: { action: 'suppression.delete' },
    schema: {
      summary: 'Delete a suppression of a shared number',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.suppressions.removeShared(request.params.id),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Suppressions } from '../../core/consent/suppressions.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/suppressions/{id}` */
export const suppressionsDelete = (deps: { suppressions: Suppressions }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/suppressions/:id',
    auth: { permission: 'messages:create' },
    audit: { action: 'suppression.delete' },
    schema: {
      summary: 'Delete a suppression',
      description: 'Also deletes one that the recipient created: make sure that the recipient agrees.',
      tags: ['Suppressions'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.suppressions.remove(request.caller, request.params.id),
    }),
  })

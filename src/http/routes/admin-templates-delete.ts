import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/templates/{id}` */
export const adminTemplatesDelete = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/templates/:id',
    auth: { operator: true },
    audit: { action: 'template.delete' },
    schema: {
      summary: 'Delete a template of the platform',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
      errors: ['NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.removePlatform(request.params.id),
    }),
  })

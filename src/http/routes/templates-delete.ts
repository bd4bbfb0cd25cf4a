import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/templates/{id}` */
export const templatesDelete = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/templates/:id',
    auth: { permission: 'messages:create' },
    audit: { action: 'template.delete' },
    schema: {
      summary: 'Delete a template',
      description:
        'An official template is first deleted at its provider, unless it was bound by its id. A test ' +
        'key can only delete templates in the sandbox: 403 for others. Accepted messages are sent as ' +
        'accepted.',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
      errors: ['NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.remove(request.caller, request.params.id),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { TemplateView } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/templates/{id}/disable` */
export const templatesDisable = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates/:id/disable',
    auth: { permission: 'messages:create' },
    audit: { action: 'template.disable' },
    schema: {
      summary: 'Disable a template',
      description: 'Only for local templates. Sends with the template are refused until it is enabled again.',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(TemplateView) },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.disable(request.caller.account.id, request.params.id),
    }),
  })

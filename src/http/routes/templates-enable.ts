import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { TemplateView } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/templates/{id}/enable` */
export const templatesEnable = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates/:id/enable',
    auth: { permission: 'messages:create' },
    audit: { action: 'template.enable' },
    schema: {
      summary: 'Enable a template',
      description: 'Only for local templates. The provider decides whether an official template may be used.',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(TemplateView) },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.enable(request.caller.account.id, request.params.id),
    }),
  })

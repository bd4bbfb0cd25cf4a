import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { TemplatePreview, TemplatePreviewBody } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/templates/{id}/preview` */
export const templatesPreview = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates/:id/preview',
    auth: { permission: 'messages:create' },
    bodyOptional: true,
    schema: {
      summary: 'Preview a template',
      description:
        'Renders the template as a send would. For values that are not given, its example values are ' +
        'used.',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      body: TemplatePreviewBody,
      response: { 200: success(TemplatePreview) },
      errors: ['NOT_FOUND'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.preview(request.caller.account.id, request.params.id, request.body),
    }),
  })

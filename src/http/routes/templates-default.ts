import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { TemplateView } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/templates/{id}/default` */
export const templatesDefault = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates/:id/default',
    auth: { permission: 'messages:create' },
    audit: { action: 'template.default' },
    schema: {
      summary: 'Make a template the default',
      description:
        'For its category and sub type: used when a send names no template, for example with ' +
        '`content.otpCode`. It may be a template of the platform.',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: success(TemplateView) },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    handler: async request => ({
      success: true,
      data: await deps.templates.makeDefault(request.caller.account.id, request.params.id),
    }),
  })

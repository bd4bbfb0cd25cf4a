import { Type } from 'typebox'
import { TemplateView } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/templates/{id}` */
export const templatesRead = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/templates/:id',
    auth: {},
    schema: {
      summary: 'Read a template',
      tags: ['Templates'],
      params: Type.Object({ id: Type.String() }),
      response: { 200: Type.Object({ data: TemplateView }) },
      errors: ['NOT_FOUND'],
    },
    handler: async request => ({
      data: await deps.templates.read(request.caller.account.id, request.params.id),
    }),
  })

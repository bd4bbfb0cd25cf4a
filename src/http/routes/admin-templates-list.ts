import { Type } from 'typebox'
import { nullable } from '../../contract/envelope.ts'
import { TemplateQuery, TemplateView } from '../../contract/template.ts'
import { PLATFORM } from '../../core/accounts/platform.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/templates` */
export const adminTemplatesList = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/templates',
    auth: { operator: true },
    schema: {
      summary: 'List the templates of the platform',
      tags: ['Operator'],
      querystring: TemplateQuery,
      response: {
        200: Type.Object({
          data: Type.Array(TemplateView),
          nextCursor: Type.Optional(nullable(Type.String())),
        }),
      },
      errors: ['NOT_FOUND'],
    },
    handler: request => deps.templates.list(PLATFORM, request.query),
  })

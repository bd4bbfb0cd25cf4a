import { page } from '../../contract/envelope.ts'
import { TemplateQuery, TemplateView } from '../../contract/template.ts'
import { PLATFORM } from '../../core/accounts/platform.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { answerInPieces } from '../pieces.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/templates` */
export const adminTemplatesList = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/templates',
    auth: { operator: true },
    schema: {
      summary: 'List the templates of the platform',
      description: "Newest first, with the filters of an account's list. Without `limit`, all of them.",
      tags: ['Operator'],
      querystring: TemplateQuery,
      response: { 200: page(TemplateView) },
      errors: ['NOT_FOUND'],
    },
    handler: async (request, reply) => {
      const { pieces, nextCursor = null } = await deps.templates.list(PLATFORM, request.query)
      return answerInPieces(reply, pieces, { success: true, nextCursor })
    },
  })

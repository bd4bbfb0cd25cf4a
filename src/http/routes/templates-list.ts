import { TemplateList, TemplateQuery } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { answerInPieces } from '../pieces.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/templates`: the templates that the account may use: its own and the platform's. */
export const templatesList = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/templates',
    auth: {},
    schema: {
      summary: 'List templates',
      description:
        'Newest first, by default those with status `active` or `approved`. Without `limit`, all of ' +
        'them.',
      tags: ['Templates'],
      querystring: TemplateQuery,
      response: {
        200: TemplateList,
      },
      errors: ['NOT_FOUND'],
    },
    handler: async (request, reply) => {
      const { pieces, ...page } = await deps.templates.list(request.caller.account.id, request.query)
      return answerInPieces(reply, pieces, page)
    },
  })

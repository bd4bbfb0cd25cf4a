import { PlatformTemplateQuery, TemplateList } from '../../contract/template.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { answerInPieces } from '../pieces.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/templates/platform`: the templates of the platform's own official number. */
export const templatesPlatform = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/templates/platform',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List templates of the platform’s official number',
      tags: ['Templates'],
      querystring: PlatformTemplateQuery,
      response: { 200: TemplateList },
      errors: ['NOT_FOUND'],
    },
    handler: async (request, reply) => {
      const { pieces, ...page } = await deps.templates.listPlatform(request.caller.account.id, request.query)
      return answerInPieces(reply, pieces, page)
    },
  })

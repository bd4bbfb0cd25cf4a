import { page } from '../../contract/envelope.ts'
import { SuppressionQuery, SuppressionView } from '../../contract/suppression.ts'
import type { Suppressions } from '../../core/consent/suppressions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/suppressions` */
export const suppressionsList = (deps: { suppressions: Suppressions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/suppressions',
    auth: {},
    schema: {
      summary: 'List suppressed recipients',
      tags: ['Suppressions'],
      querystring: SuppressionQuery,
      response: { 200: page(SuppressionView) },
    },
    handler: request => deps.suppressions.list(request.caller, request.query),
  })

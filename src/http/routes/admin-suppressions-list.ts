import { page } from '../../contract/envelope.ts'
import { SharedSuppressionView, SuppressionQuery } from '../../contract/suppression.ts'
import type { Suppressions } from '../../core/consent/suppressions.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/suppressions`: opt-outs that were sent to numbers that accounts share. */
export const adminSuppressionsList = (deps: { suppressions: Suppressions }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/suppressions',
    auth: { operator: true },
    schema: {
      summary: 'List suppressions of shared numbers',
      tags: ['Operator'],
      querystring: SuppressionQuery,
      response: { 200: page(SharedSuppressionView) },
    },
    handler: request => deps.suppressions.listShared(request.query),
  })

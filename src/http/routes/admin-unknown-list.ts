import { page, pageQuery } from '../../contract/envelope.ts'
import { UnknownMessage } from '../../contract/operations.ts'
import type { Operations } from '../../core/overview/operations.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/unknown` */
export const adminUnknownList = (deps: { operations: Operations }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/unknown',
    auth: { operator: true },
    schema: {
      summary: 'List unknown outcomes',
      description:
        'Messages that may have left, and nobody can say; those first that count as sent the soonest.',
      tags: ['Operator'],
      querystring: pageQuery({}),
      response: { 200: page(UnknownMessage) },
    },
    handler: request => deps.operations.unknown(request.query),
  })

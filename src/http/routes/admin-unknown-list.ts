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
      summary: 'List messages with an unknown outcome',
      description:
        'Messages that may or may not have reached the provider, in the order in which they will count ' +
        'as sent.',
      tags: ['Operator'],
      querystring: pageQuery({}),
      response: { 200: page(UnknownMessage) },
    },
    handler: request => deps.operations.unknown(request.query),
  })

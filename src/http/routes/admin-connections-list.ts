import { ConnectionView } from '../../contract/admin.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import type { ConnectionAdmin } from '../../core/connections/admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/connections` */
export const adminConnectionsList = (deps: { connectionAdmin: ConnectionAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/connections',
    auth: { operator: true },
    schema: {
      summary: 'List connections',
      description: 'Newest first, without secrets.',
      tags: ['Operator'],
      querystring: pageQuery({}),
      response: { 200: page(ConnectionView) },
    },
    handler: request => deps.connectionAdmin.list(request.query),
  })

import { success } from '../../contract/envelope.ts'
import { NodesView } from '../../contract/operations.ts'
import type { Operations } from '../../core/overview/operations.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/nodes` */
export const adminNodesRead = (deps: { operations: Operations }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/nodes',
    auth: { operator: true },
    schema: {
      summary: 'Read the nodes',
      description:
        'The running processes, the messages and lanes that they hold, and the links of the node that ' +
        'responds.',
      tags: ['Operator'],
      response: { 200: success(NodesView) },
    },
    handler: async () => ({ success: true, data: await deps.operations.nodes() }),
  })

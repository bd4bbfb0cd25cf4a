import { page } from '../../contract/envelope.ts'
import { InboundMessageQuery, InboundMessageView } from '../../contract/inbound-message.ts'
import type { InboundMessages } from '../../core/inbound/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/inbound`: messages to numbers that do not belong to one account. */
export const adminInboundList = (deps: { inboundMessages: InboundMessages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/inbound',
    auth: { operator: true },
    schema: {
      summary: 'List inbound messages of shared numbers',
      tags: ['Operator'],
      querystring: InboundMessageQuery,
      response: { 200: page(InboundMessageView) },
    },
    handler: request => deps.inboundMessages.listShared(request.query),
  })

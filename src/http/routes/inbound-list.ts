import { page } from '../../contract/envelope.ts'
import { InboundMessageQuery, InboundMessageView } from '../../contract/inbound-message.ts'
import type { InboundMessages } from '../../core/inbound/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/inbound`: the account's inbound messages. */
export const inboundList = (deps: { inboundMessages: InboundMessages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/inbound',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'List inbound messages',
      tags: ['Messages'],
      querystring: InboundMessageQuery,
      response: { 200: page(InboundMessageView) },
    },
    handler: request => deps.inboundMessages.list(request.caller, request.query),
  })

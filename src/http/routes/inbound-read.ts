import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { InboundMessageView } from '../../contract/inbound-message.ts'
import type { InboundMessages } from '../../core/inbound/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/inbound/{inboundId}` */
export const inboundRead = (deps: { inboundMessages: InboundMessages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/inbound/:inboundId',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Read an inbound message',
      tags: ['Messages'],
      params: Type.Object({ inboundId: Type.String() }),
      response: { 200: success(InboundMessageView) },
      errors: ['NOT_FOUND'],
    },
    handler: async request => ({
      success: true,
      data: await deps.inboundMessages.read(request.caller, request.params.inboundId),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MessageWithTimeline } from '../../contract/message.ts'
import type { Messages } from '../../core/messages/read.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/messages/{messageId}/cancel`: cancels a scheduled or queued message. */
export const messagesCancel = (deps: { messages: Messages }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/:messageId/cancel',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Cancel a message',
      description: 'Only scheduled and queued messages can be cancelled. The held money is released.',
      tags: ['Messages'],
      params: Type.Object({ messageId: Type.String() }),
      response: { 200: success(MessageWithTimeline) },
      errors: ['NOT_FOUND', 'MESSAGE_STATE_CONFLICT'],
    },
    handler: async request => ({
      success: true,
      data: await deps.messages.cancel(request.caller, request.params.messageId),
    }),
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MessageWithTimeline } from '../../contract/message.ts'
import type { Messages } from '../../core/messages/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/{messageId}`: one message with its timeline. */
export const messagesRead = (deps: { messages: Messages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/:messageId',
    auth: {},
    schema: {
      summary: 'Read a message',
      description:
        "`timeline` lists every attempt with the provider's response, and every status with its time. " +
        'Its statuses only move forward. If an attempt was not accepted and the message is retried, the ' +
        'message has the status `queued` again and can be cancelled; the timeline shows that attempt, ' +
        'and `sending` only for the attempt that decided.',
      tags: ['Messages'],
      params: Type.Object({ messageId: Type.String() }),
      response: { 200: success(MessageWithTimeline) },
      errors: ['NOT_FOUND'],
    },
    handler: async request => ({
      success: true,
      data: await deps.messages.read(request.caller, request.params.messageId),
    }),
  })

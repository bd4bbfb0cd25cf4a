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
        'With `timeline`: every attempt with what the provider said, and every status with its time. The statuses in it ' +
        'only go forward. A message that an attempt did not take waits as `queued` again and can be cancelled; that ' +
        'attempt stands among the attempts, and `sending` before the one that decided.',
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

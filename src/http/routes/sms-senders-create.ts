import { Type } from 'typebox'
import { SmsSenderRequest, SmsSenderView } from '../../contract/sender.ts'
import type { OwnSenders } from '../../core/senders/own.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/sms-senders`: requests a sender name, which is pending until the operator decides. */
export const smsSendersCreate = (deps: { ownSenders: OwnSenders }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/sms-senders',
    auth: { permission: 'messages:create', ownersOnly: true },
    audit: { action: 'sms_sender.create', bodyFields: ['name', 'webhookUrl'] },
    schema: {
      summary: 'Request an SMS sender name',
      description: 'For owners only. The name is pending until the operator has reviewed it.',
      tags: ['SMS senders'],
      body: SmsSenderRequest,
      errors: ['CONFLICT'],
      response: {
        201: Type.Object({
          success: Type.Literal(true),
          message: Type.String(),
          data: Type.Object({ smsSender: SmsSenderView }),
        }),
      },
    },
    handler: async (request, reply) => {
      const smsSender = await deps.ownSenders.request(request.caller, request.body)
      reply.code(201)
      return { success: true, message: 'The SMS sender name waits for review.', data: { smsSender } }
    },
  })

import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { SmsSenderView } from '../../contract/sender.ts'
import type { OwnSenders } from '../../core/senders/own.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/sms-senders/{id}/default` */
export const smsSendersDefault = (deps: { ownSenders: OwnSenders }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/sms-senders/:id/default',
    auth: { permission: 'messages:create' },
    audit: { action: 'sms_sender.default' },
    schema: {
      summary: 'Make an SMS sender name the default',
      description: 'The name must be approved. It replaces the previous default.',
      tags: ['SMS senders'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(SmsSenderView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.ownSenders.makeDefault(request.caller, request.params.id),
    }),
  })

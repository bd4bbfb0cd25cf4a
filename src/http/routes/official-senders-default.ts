import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { OfficialSender } from '../../contract/official.ts'
import type { OfficialSenders } from '../../core/senders/official.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/official-senders/{id}/default` */
export const officialSendersDefault = (deps: { officialSenders: OfficialSenders }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/official-senders/:id/default',
    auth: { permission: 'messages:create' },
    audit: { action: 'official_sender.default' },
    schema: {
      summary: 'Make an official sender the default',
      description: 'By its id, or `platform`. Used for sends that name no official sender.',
      tags: ['Official senders'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(OfficialSender) },
    },
    handler: async request => ({
      success: true,
      data: await deps.officialSenders.makeDefault(request.caller, request.params.id),
    }),
  })

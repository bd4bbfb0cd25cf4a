import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { OfficialSender } from '../../contract/official.ts'
import type { OfficialSenders } from '../../core/senders/official.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/official-senders` */
export const officialSendersList = (deps: { officialSenders: OfficialSenders }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/official-senders',
    auth: {},
    schema: {
      summary: 'List the official senders',
      description:
        'The account’s own numbers on the official chat-app channel, then the platform’s, with what the provider says of each.',
      tags: ['Official senders'],
      response: { 200: success(Type.Array(OfficialSender)) },
    },
    handler: async request => ({ success: true, data: await deps.officialSenders.list(request.caller) }),
  })

import { page } from '../../contract/envelope.ts'
import { OfficialSender, OfficialSenderQuery } from '../../contract/official.ts'
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
        "The account's own numbers on the official chat-app channel, then the platform's number, with " +
        'their state at the provider. Without `limit`, all of them.',
      tags: ['Official senders'],
      querystring: OfficialSenderQuery,
      response: { 200: page(OfficialSender) },
    },
    handler: request => deps.officialSenders.page(request.caller, request.query),
  })

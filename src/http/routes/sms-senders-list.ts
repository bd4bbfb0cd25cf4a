import { page, pageQuery } from '../../contract/envelope.ts'
import { SmsSenderView } from '../../contract/sender.ts'
import type { OwnSenders } from '../../core/senders/own.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/sms-senders` */
export const smsSendersList = (deps: { ownSenders: OwnSenders }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/sms-senders',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'List the SMS sender names',
      description: "The account's own names, newest first.",
      tags: ['SMS senders'],
      querystring: pageQuery({}),
      response: { 200: page(SmsSenderView) },
    },
    handler: request => deps.ownSenders.list(request.caller, request.query),
  })

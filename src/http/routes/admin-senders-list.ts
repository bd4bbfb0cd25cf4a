import { Type } from 'typebox'
import { AdminSender } from '../../contract/admin.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import { SENDER_STATUSES } from '../../contract/sender.ts'
import type { SenderReview } from '../../core/senders/review.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/sms-senders` */
export const adminSendersList = (deps: { senderReview: SenderReview }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/sms-senders',
    auth: { operator: true },
    schema: {
      summary: 'List SMS sender names',
      description: 'The names of every account and of the platform, newest first.',
      tags: ['Operator'],
      querystring: pageQuery({
        status: Type.Optional(Type.Enum(SENDER_STATUSES)),
        accountId: Type.Optional(Type.String({ maxLength: 40, description: 'Only those of this account' })),
      }),
      errors: ['NOT_FOUND'],
      response: { 200: page(AdminSender) },
    },
    handler: request => deps.senderReview.list(request.query),
  })

import { Type } from 'typebox'
import { AdminSender } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { SenderReview } from '../../core/senders/review.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/sms-senders/{id}` */
export const adminSendersRead = (deps: { senderReview: SenderReview }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/sms-senders/:id',
    auth: { operator: true },
    schema: {
      summary: 'Read an SMS sender name',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(AdminSender) },
    },
    handler: async request => ({ success: true, data: await deps.senderReview.read(request.params.id) }),
  })

import { Type } from 'typebox'
import { AdminSender } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { SenderReview } from '../../core/senders/review.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/sms-senders/{id}/approve` */
export const adminSendersApprove = (deps: { senderReview: SenderReview }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/sms-senders/:id/approve',
    auth: { operator: true },
    audit: { action: 'sms_sender.approve' },
    schema: {
      summary: 'Approve an SMS sender name',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(AdminSender) },
    },
    handler: async request => ({ success: true, data: await deps.senderReview.approve(request.params.id) }),
  })

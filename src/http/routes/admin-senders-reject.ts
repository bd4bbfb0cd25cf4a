import { Type } from 'typebox'
import { AdminSender, SenderReject } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { SenderReview } from '../../core/senders/review.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/sms-senders/{id}/reject` */
export const adminSendersReject = (deps: { senderReview: SenderReview }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/sms-senders/:id/reject',
    auth: { operator: true },
    audit: { action: 'sms_sender.reject', bodyFields: ['reason'] },
    schema: {
      summary: 'Reject an SMS sender name',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: SenderReject,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(AdminSender) },
    },
    handler: async request => ({
      success: true,
      data: await deps.senderReview.reject(request.params.id, request.body.reason),
    }),
  })

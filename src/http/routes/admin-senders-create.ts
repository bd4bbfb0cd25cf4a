import { Type } from 'typebox'
import { AdminSender, SenderCreate } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { SenderReview } from '../../core/senders/review.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/sms-senders` */
export const adminSendersCreate = (deps: { senderReview: SenderReview }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/sms-senders',
    auth: { operator: true },
    audit: { action: 'sms_sender.create', bodyFields: ['name', 'isDefault'] },
    schema: {
      summary: 'Create an SMS sender name for the platform',
      description: 'Approved at once. Accounts without a default of their own may use it.',
      tags: ['Operator'],
      body: SenderCreate,
      response: { 201: success(Type.Object({ smsSender: AdminSender })) },
    },
    handler: async (request, reply) => {
      const smsSender = await deps.senderReview.createPlatform(request.body)
      reply.code(201)
      return { success: true, data: { smsSender } }
    },
  })

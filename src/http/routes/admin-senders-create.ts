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
    audit: { action: 'sms_sender.create', keeps: ['name', 'isDefault'] },
    schema: {
      summary: 'Create an SMS sender name of the platform',
      description: 'Approved at once, for every account that has no default of its own.',
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

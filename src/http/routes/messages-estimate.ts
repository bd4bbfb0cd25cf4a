import { success } from '../../contract/envelope.ts'
import { Estimate } from '../../contract/estimate.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { SingleSendBody } from '../../contract/send.ts'
import type { EstimateSend } from '../../core/messages/estimate.ts'
import { defineRoute } from '../route.ts'
import { SEND_BODY_LIMIT_BYTES } from './messages-send.ts'

/** `POST /api/v2/messages/estimate`: the route and the cost of a send with this body. */
export const messagesEstimate = (deps: { estimate: EstimateSend }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/estimate',
    auth: { permission: 'messages:create' },
    bodyLimit: SEND_BODY_LIMIT_BYTES,
    schema: {
      summary: 'Estimate a send',
      description: 'Takes the same steps as a send and returns their result. Nothing is sent or charged.',
      tags: ['Messages'],
      body: SingleSendBody,
      answerHeaders: ['X-Sandbox'],
      response: { 200: success(Estimate) },
    },
    async handler(request, reply) {
      const data = await deps.estimate(request.caller, request.body)
      if (data.resolved?.provider === SANDBOX) reply.header('X-Sandbox', 'true')
      return { success: true, data }
    },
  })

import { Type } from 'typebox'
import { BatchResult, SendBody, SendResult, type SingleSendBody } from '../../contract/send.ts'
import type { Send } from '../../core/messages/send.ts'
import type { SendBatch } from '../../core/messages/send-batch.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { defineRoute } from '../route.ts'
import { sendAnswer } from '../send-answer.ts'
import { SEND_FORM, withHeaderMedia } from '../send-form.ts'

/** Enough for 16 MB of media in Base64 and the other fields. */
export const SEND_BODY_LIMIT_BYTES = 24 * 1024 * 1024

/** `POST /api/v2/messages/send`: sends one message over any channel. */
export const messagesSend = (deps: { send: Send; sendBatch: SendBatch }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/send',
    auth: { permission: 'messages:create' },
    bodyLimit: SEND_BODY_LIMIT_BYTES,
    faults: 'handed over',
    form: SEND_FORM,
    schema: {
      summary: 'Send a message',
      description:
        'Waits a short time for the provider: the status is `sent` if the provider has accepted the ' +
        'message by then, else `queued`. With an idempotency key, the same response is returned for 24 ' +
        'hours, with `Idempotency-Replayed: true`. As a form, `headerMedia` is the file of the ' +
        "template's header, and fields that are objects are JSON.",
      tags: ['Messages'],
      headers: Type.Object({
        'Idempotency-Key': Type.Optional(
          Type.String({
            description:
              '1 to 200 characters; takes precedence over idempotencyKey and options.idempotencyKey',
          }),
        ),
      }),
      body: SendBody,
      answerHeaders: ['Idempotency-Replayed', 'X-Sandbox'],
      response: { 200: Type.Union([SendResult, BatchResult]), 207: BatchResult },
      errors: [
        'CHATAPP_NOT_REGISTERED',
        'RECIPIENT_SUPPRESSED',
        'RECIPIENT_REJECTED',
        'MESSAGE_REJECTED',
        'INSUFFICIENT_BALANCE',
        'NOT_FOUND',
        'CONFLICT',
        'IDEMPOTENCY_KEY_CONFLICT',
        'SESSION_NOT_OPEN',
        'PROVIDER_UNAVAILABLE',
      ],
    },
    async handler(request, reply) {
      const { body, fault, identity } = withHeaderMedia(request)
      const common = {
        requestId: request.id,
        caller: request.caller,
        headerKey: idempotencyKeyOf(request),
        ...(identity !== undefined && { identity }),
      }
      const answer =
        fault === null && Array.isArray(body.to)
          ? await deps.sendBatch({ ...common, body: { ...body, to: body.to } })
          : await deps.send({ ...common, body: body as SingleSendBody, fault })
      return sendAnswer(answer, reply)
    },
  })

import { Type } from 'typebox'
import { VerificationAttempt, VerificationSend } from '../../contract/verification.ts'
import type { StartVerification } from '../../core/verification/start.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { defineRoute } from '../route.ts'
import { sendAnswer } from '../send-answer.ts'

/** `POST /api/v2/verification/send`: starts a verification and sends its code. */
export const verificationSend = (deps: { startVerification: StartVerification }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/verification/send',
    auth: { permission: 'messages:create' },
    rateGroup: 'verification_send',
    faults: 'handed over',
    schema: {
      summary: 'Send a verification code',
      description:
        "Supersedes the recipient's earlier code. Waits a short time for the provider, as a send does. " +
        'The price is that of a message of type `otp`. With an idempotency key, the same response is ' +
        'returned for 24 hours.',
      tags: ['Verification'],
      headers: Type.Object({
        'Idempotency-Key': Type.Optional(
          Type.String({ description: '1 to 200 characters; takes precedence over idempotencyKey' }),
        ),
      }),
      body: VerificationSend,
      answerHeaders: ['Idempotency-Replayed', 'X-Sandbox'],
      response: { 200: VerificationAttempt },
      errors: [
        'CHATAPP_NOT_REGISTERED',
        'RECIPIENT_REJECTED',
        'MESSAGE_REJECTED',
        'INSUFFICIENT_BALANCE',
        'IDEMPOTENCY_KEY_CONFLICT',
        'PROVIDER_UNAVAILABLE',
      ],
    },
    async handler(request, reply) {
      const answer = await deps.startVerification({
        requestId: request.id,
        caller: request.caller,
        body: request.body,
        fault: request.fault,
        headerKey: idempotencyKeyOf(request),
      })
      return sendAnswer(answer, reply)
    },
  })

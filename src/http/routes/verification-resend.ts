import { VerificationAttempt, VerificationResend } from '../../contract/verification.ts'
import type { ResendVerification } from '../../core/verification/resend.ts'
import { defineRoute } from '../route.ts'
import { sendAnswer } from '../send-answer.ts'

/** `POST /api/v2/verification/resend`: sends another code for the same verification. */
export const verificationResend = (deps: { resendVerification: ResendVerification }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/verification/resend',
    auth: { permission: 'messages:create' },
    rateGroup: 'verification_send',
    schema: {
      summary: 'Resend a verification code',
      description:
        'Sends a new code and voids the previous one, at most five times: after 60 seconds, then after ' +
        '60, 120, 240 and 300. Wrong tries stay counted.',
      tags: ['Verification'],
      body: VerificationResend,
      answerHeaders: ['X-Sandbox'],
      response: { 200: VerificationAttempt },
      errors: [
        'VERIFICATION_EXPIRED',
        'CHATAPP_NOT_REGISTERED',
        'RECIPIENT_REJECTED',
        'MESSAGE_REJECTED',
        'INSUFFICIENT_BALANCE',
        'NOT_FOUND',
        'VERIFICATION_ALREADY_USED',
        'VERIFICATION_ATTEMPTS_EXHAUSTED',
        'RESEND_TOO_SOON',
        'RESEND_LIMIT',
        'PROVIDER_UNAVAILABLE',
      ],
    },
    async handler(request, reply) {
      const { id: requestId, caller, body } = request
      return sendAnswer(await deps.resendVerification({ requestId, caller, body }), reply)
    },
  })

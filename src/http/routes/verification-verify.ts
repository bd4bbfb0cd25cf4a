import { VerificationCheck, Verified } from '../../contract/verification.ts'
import type { Checks } from '../../core/verification/check.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/verification/verify`: checks a code. */
export const verificationVerify = (deps: { checks: Checks }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/verification/verify',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Check a verification code',
      description:
        'A code is accepted once. Five wrong codes end the attempt, also across resends. Input that is ' +
        'not 4 to 8 digits is refused and does not count as a try.',
      tags: ['Verification'],
      body: VerificationCheck,
      response: { 200: Verified },
      errors: [
        'VERIFICATION_CODE_INVALID',
        'VERIFICATION_EXPIRED',
        'NOT_FOUND',
        'VERIFICATION_ALREADY_USED',
        'VERIFICATION_ATTEMPTS_EXHAUSTED',
      ],
    },
    handler: ({ id, caller, body }) => deps.checks.check({ requestId: id, caller, body }),
  })

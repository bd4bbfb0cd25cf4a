import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { VerificationView } from '../../contract/verification.ts'
import type { Verifications } from '../../core/verification/read.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/verification/{verificationId}`: a verification and its status. */
export const verificationRead = (deps: { verifications: Verifications }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/verification/:verificationId',
    auth: {},
    schema: {
      summary: 'Read a verification',
      description:
        'Its current state, without the code. Superseded verifications can be read too, for at least 30 ' +
        'days.',
      tags: ['Verification'],
      params: Type.Object({ verificationId: Type.String() }),
      response: { 200: success(VerificationView) },
      errors: ['NOT_FOUND'],
    },
    handler: async request => ({
      success: true,
      data: await deps.verifications.read(request.caller.account.id, request.params.verificationId),
    }),
  })

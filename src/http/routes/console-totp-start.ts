import { PasswordProof, TotpStart } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnLogin } from '../../core/people/own-login.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/console/totp` */
export const consoleTotpStart = (deps: { ownLogin: OwnLogin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/totp',
    auth: { session: true },
    schema: {
      summary: 'Start setting up the second factor',
      description: 'Logins do not ask for it until it is confirmed with a code.',
      tags: ['Console'],
      body: PasswordProof,
      errors: ['CONFLICT', 'RATE_LIMITED'],
      response: { 200: success(TotpStart) },
    },
    handler: async request => ({
      success: true,
      data: await deps.ownLogin.startTotp(request.signedIn, request.body.password),
    }),
  })

import { PasswordProof, SessionView } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnLogin } from '../../core/people/own-login.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `DELETE /api/console/totp` */
export const consoleTotpEnd = (deps: { ownLogin: OwnLogin; cookies: SessionCookies }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/console/totp',
    auth: { session: true },
    audit: { action: 'login.totp_off' },
    schema: {
      summary: 'Turn the second factor off',
      tags: ['Console'],
      body: PasswordProof,
      errors: ['RATE_LIMITED'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(SessionView) },
    },
    handler: async (request, reply) => {
      const entered = await deps.ownLogin.disableTotp(
        request.signedIn,
        request.body.password,
        visitOf(request),
      )
      deps.cookies.set(reply, entered)
      request.signedIn = entered.signedIn
      return { success: true, data: entered.view }
    },
  })
